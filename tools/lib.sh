# What the scripts beside this file share: where the tools are, and how to say what is wrong. Sourced, not run.
# shellcheck shell=bash

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Built tools are kept here between runs, one file for each tool and version, and a folder for the schemas.
cache=${FUNCTION_ASYA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/function-asya-ci}

# What is wrong and what to do about it; ends the script.
fail() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf '  hint: %s\n' "$2" >&2
    exit 1
}

# The version that a tool's go.mod asks for: that of the module its package is in, the longest path that fits. A tool of
# our own has what it is made of for a version, and so have the schemas.
tool_version() {
    local mod=$root/tools/modules/$1/go.mod
    if [ "$1" = crds ]; then
        sha256sum <"$root/tools/crds.txt" | cut -c 1-12
        return
    fi
    if [ -f "${mod%go.mod}main.go" ]; then
        cat "$mod" "${mod%.mod}.sum" "${mod%go.mod}"*.go | sha256sum | cut -c 1-12
        return
    fi
    awk '
        $1 == "tool" { package = $2 "/" }
        $1 == "require" && $2 != "(" { version[$2] = $3 }
        $2 ~ /^v[0-9]/ { version[$1] = $2 }
        END {
            for (path in version)
                if (index(package, path "/") == 1 && length(path) > length(best)) best = path
            print version[best]
        }' "$mod"
}

# Where `tools/install` puts a tool.
tool_path() { printf '%s/bin/%s-%s\n' "$cache" "$1" "$(tool_version "$1")"; }

# The path of a tool that must be there.
tool() {
    local path
    path=$(tool_path "$1")
    [ -x "$path" ] || fail "the tool $1 is not there: $path" 'run `tools/install`'
    printf '%s\n' "$path"
}

# The tag of this release: the version in Cargo.toml.
release_tag() { sed -nE 's/^version = "(.*)"$/v\1/p' "$root/Cargo.toml" | head -n 1; }

# A program of the machine that must be there.
need() { command -v "$1" >/dev/null || fail "there is no \`$1\` on this machine" 'install it; see tools/README.md'; }

# A folder that goes when the script ends, however it ends, and so do the processes in `started`.
make_scratch() {
    scratch=$(mktemp -d)
    started=()
    trap 'clean_up' EXIT
    trap 'exit 130' INT TERM
}

clean_up() {
    local pid
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$scratch"
}

# A registry on loopback, for as long as the script runs; sets `port`.
start_registry() {
    local crane
    crane=$(tool crane)
    : >"$scratch/registry.log"
    "$crane" registry serve --address=127.0.0.1:0 2>"$scratch/registry.log" &
    started+=($!)
    for _ in $(seq 100); do
        port=$(sed -nE 's/.*serving on port ([0-9]+).*/\1/p' "$scratch/registry.log")
        [ -z "$port" ] || return 0
        sleep 0.1
    done
    fail 'the registry on loopback does not start' "$(cat "$scratch/registry.log")"
}
