# What the scripts beside this file share: where the tools are, and how to say what is wrong. Sourced, not run.
# shellcheck shell=bash

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Built tools are kept here between runs, one file for each tool and version.
cache=${FUNCTION_ASYA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/function-asya-ci}

# What is wrong and what to do about it; ends the script.
fail() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf '  hint: %s\n' "$2" >&2
    exit 1
}

# The version that a tool's go.mod asks for: that of the module its package is in, the longest path that fits.
tool_version() {
    local mod=$root/tools/modules/$1/go.mod
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
