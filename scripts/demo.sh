#!/bin/sh
# The main job, from a clean clone: installs what is missing, builds, reads a photographed page, and
# names the page that shows how. Usage: demo.sh [PICTURE]
set -eu
picture=${1:+$(realpath -- "$1")}
. "$(dirname "$0")/common.sh"

sh scripts/setup.sh
sh scripts/build.sh release polychron_tool polychron_ocr_program
picture=${picture:-$page}
trace=build/demo.trace
say "demo: polychron-ocr ${picture#"$root"/}"
build/bin/polychron-ocr "$picture" --models "$models" --trace "$trace"
build/bin/polychron trace view "$trace" -o "${trace%.trace}.html"
say "demo: what its actors did, for a browser: ${trace%.trace}.html"
