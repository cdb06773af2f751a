# The function's image: one static binary and nothing else, for amd64 and arm64.
#
#   docker buildx build --platform linux/amd64,linux/arm64 -t function-asya .
#
# The builder runs on its own platform and compiles for the other one, so nothing is emulated. RUST is a version of the
# official image, at least `rust-version` of Cargo.toml.
ARG RUST=1.95
FROM --platform=$BUILDPLATFORM rust:${RUST}-slim-bookworm AS build
ARG TARGETARCH
WORKDIR /src

# The compiler's target, and a linker for it with a C library to link in. `static` is what the last stage rests on; with
# --target, build scripts and macros are not affected by it.
RUN set -eu; \
    case "$TARGETARCH" in \
        amd64) cpu=x86_64; package=x86-64-linux-gnu ;; \
        arm64) cpu=aarch64; package=aarch64-linux-gnu ;; \
        *) echo "error: no image for the platform $TARGETARCH; amd64 and arm64 are known" >&2; exit 1 ;; \
    esac; \
    target="$cpu-unknown-linux-gnu"; \
    if [ "$(uname -m)" != "$cpu" ]; then \
        apt-get update; \
        apt-get install -y --no-install-recommends "gcc-$package" "libc6-dev-$TARGETARCH-cross"; \
        rm -rf /var/lib/apt/lists/*; \
        rustup target add "$target"; \
        printf '[target.%s]\nlinker = "%s-linux-gnu-gcc"\n' "$target" "$cpu" >>"$CARGO_HOME/config.toml"; \
    fi; \
    echo "$target" >/target

COPY . .
RUN set -eu; \
    target="$(cat /target)"; \
    RUSTFLAGS='-C target-feature=+crt-static' cargo build --release --locked --bin function-asya --target "$target"; \
    cp "target/$target/release/function-asya" /function-asya; \
    if readelf -d /function-asya | grep NEEDED; then echo 'error: the binary is not static' >&2; exit 1; fi

FROM scratch
COPY --from=build /function-asya /function-asya
# A number, so that Kubernetes can tell it is not root.
USER 2000:2000
# gRPC and metrics.
EXPOSE 9443 8080
# Serves when no command is named; flags such as a lone `--insecure` follow.
ENTRYPOINT ["/function-asya"]
