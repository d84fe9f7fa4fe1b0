#!/bin/sh
# Builds the project, after setup.sh. Usage: build.sh [PRESET] [TARGET...]
#
# PRESET: release (the default), debug, asan or tsan.
#
# TARGET: all for the tests too; without one the libraries, the tool, examples and benchmarks.
#
# On a terminal Ninja shows its progress; otherwise the output is kept and shown only on failure.
set -eu
. "$(dirname "$0")/common.sh"

preset=${1:-release}
[ $# -eq 0 ] || shift
case $preset in
  release) directory=build ;;
  debug | asan | tsan) directory=build/$preset ;;
  *) die "no such preset: '$preset' (release, debug, asan or tsan)" ;;
esac

say "build: $preset, into $directory"
[ -f "$directory/build.ninja" ] || quietly "configure-$preset" cmake --preset "$preset"
[ $# -gt 0 ] || set -- product
set -- cmake --build "$directory" --target "$@"
if [ -t 1 ]; then
  "$@"
else
  quietly "build-$preset" "$@"
fi
