# What people type. The steps are those of CI and live in .ci/run; `just` alone lists the recipes.

actor := "examples/quickstart/actor.yaml"
config := "-e examples/quickstart/flavors.yaml -e examples/quickstart/platform.yaml"

_list:
    @just --list --unsorted

# everything CI checks
check:
    .ci/run

# one or more of its steps: fmt lint doc deny readme traces fuzz tools bench tests
step +steps:
    .ci/run {{ steps }}

# formatting, as CI wants it
fmt:
    cargo fmt

# clippy, warnings as errors
lint: (step "lint")

# the tests; arguments go to cargo: `just test --test cases`
test *arguments:
    cargo test {{ arguments }}

# the docs of the code, warnings as errors
doc: (step "doc")

# licences, banned crates and where crates come from
deny: (step "deny")

# an actor from files: `just render my/actor.yaml -e my/flavors.yaml --simulate ready`
render *arguments=(actor + " " + config + " --simulate ready"):
    cargo run -q -- render {{ arguments }}

# the function, plaintext, for `crossplane render`
serve:
    cargo run -q -- serve --insecure --address 127.0.0.1:9443 --debug

# write what comes out over what is expected; read the diff as the change of behaviour
bless:
    BLESS=1 cargo test
    cargo run -q -- render {{ actor }} {{ config }} --simulate ready > tests/readme/quickstart.yaml

# the Rust code of proto/ anew
generate:
    BLESS=1 cargo test --test generated

# both packages, with the image inside: target/package/*.xpkg
package:
    tools/package

# times, beside servers that do less (docs/performance.md): `just bench --quick`
bench *arguments:
    cargo bench --bench wire -- {{ arguments }}

# record what a call takes in instructions and allocations; the step `bench` compares
bless-counts:
    BLESS=1 cargo bench --bench instructions --bench allocations

# what the real Crossplane tools say
tools: (step "tools")
