#!/bin/sh
# Compiles the project for arm64 and runs tests under qemu: suites of kernels, ops, conformance, protocol, api and onnx,
# and the page reader. That shows right results, and nothing of speed. Ends in "N passed, N failed, N skipped".
# Usage: check-arm64.sh [ctest option...]
set -eu
. "$(dirname "$0")/common.sh"
tests='^(kernels|ops|conformance|protocol|api|onnx)$'

skip() {
  say "skipped: arm64: $*"
  say "0 passed, 0 failed, 1 skipped"
  exit 0
}

sh scripts/setup.sh arm64 || skip "no compiler or emulator"
sh scripts/build.sh release polychron-ocr  # what it reads here, it has to read there
. scripts/arm64.sh
build_arm64 test_kernels test_ops test_conformance test_protocol test_api test_onnx polychron-ocr
say "arm64: tests, under qemu"
set -- "$(python3 scripts/run_ctest.py build/arm64 -j 2 -L "$tests" -LE slow "$@" | tee /dev/stderr | tail -n 1)"
there=$(on_arm build/arm64/bin/polychron-ocr "$page" --models "$models") || there=
here=$(build/bin/polychron-ocr "$page" --models "$models")
# shellcheck disable=SC2046,SC2086  # three numbers
set -- $(say $1 | tr -dc '0-9 \n')
if [ "$there" = "$here" ]; then set -- $(($1 + 1)) "$2" "$3"; else set -- "$1" $(($2 + 1)) "$3"; fi
say "$1 passed, $2 failed, $3 skipped"
[ "$2" -eq 0 ]
