#!/bin/sh
# The main job, from a clean clone: installs what is missing, builds, and reads a photographed page.
# Usage: demo.sh [PICTURE]
set -eu
picture=${1:+$(realpath -- "$1")}
. "$(dirname "$0")/common.sh"

sh scripts/setup.sh
sh scripts/build.sh release polychron_tool
picture=${picture:-$page}
say "demo: polychron ocr ${picture#"$root"/}"
exec build/bin/polychron ocr "$picture" --models "$models"
