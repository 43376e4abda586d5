# Sourced by the scripts in ci/.
# shellcheck shell=bash
set -Eeuo pipefail
# No pipeline here ends early (grep -q, head): under pipefail its writer's SIGPIPE would count as a failure.
trap 'warn "${0##*/}: line $LINENO failed with status $?: $BASH_COMMAND"' ERR

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
engines_home=$root/.engines
judge=$engines_home/judges/bin/python # a Python with SQLite engines that are not ours
work_home=$root/.build-ci             # logs and results of the last run; ignored by git
swift=${SWIFT:-swift}
# Where packages that depend on this one are built: each is its own root, and what they depend on is compiled once.
# ci/test gives the path under which it lets them share the default engine's build: see engines.sh.
consumers_home=$root/.build-consumers
consumers_scratch=${LITEVAULT_CONSUMERS:-$consumers_home}

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
fail() {
    warn "${0##*/}: $*"
    exit 1
}

# Runs a command with its output in a log, which is shown only when the command fails.
quietly() {
    local log
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm -f "$log"
    else
        local status=$?
        cat "$log" >&2
        rm -f "$log"
        warn "failed with status $status: $*"
        return "$status"
    fi
}
