#!/bin/sh
# Measures Polychron and ONNX Runtime in turn, on models of true shapes: a table, a plot, and the growth since
# the kept table; then the small parts. With --survey: single operators of many shapes, the worst first.
# Installs and builds what it needs. Usage: bench.sh --help
set -eu
. "$(dirname "$0")/common.sh"

# Reports a mistake before anything is built, and so does --help.
command -v node >/dev/null || sh scripts/setup.sh peer >&2
case " $* " in *" --help "*) exec node tests/bench/table/main.mjs --help ;; esac
node tests/bench/table/main.mjs --check "$@"
sh scripts/setup.sh peer >&2
sh scripts/build.sh release >&2
exec node tests/bench/table/main.mjs "$@"
