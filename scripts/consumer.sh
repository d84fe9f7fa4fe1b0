#!/bin/sh
# Builds a product that stands on an installed Polychron (server, webnn), in build/NAME. The release build's libraries
# are installed into build/prefix first, as users have them; so is the tool, if it is built.
# Without a FOLDER that is all.
# Usage: consumer.sh NAME [FOLDER [CMAKE_OPTION...]]
set -eu
. "$(dirname "$0")/common.sh"
name=$1
shift
sh scripts/build.sh release polychron polychron_onnx polychron_text polychron_simulation
components="library development"
[ ! -x build/bin/polychron ] || components="$components tools"
for component in $components; do
  quietly "install-$name" cmake --install build --prefix build/prefix --component "$component"
done
[ $# -gt 0 ] || exit 0
folder=$1
shift
say "build: $name, into build/$name"
quietly "configure-$name" cmake -S "$folder" -B "build/$name" -G Ninja -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_PREFIX_PATH="$root/build/prefix" -D CMAKE_UNITY_BUILD=ON "$@"
quietly "build-$name" cmake --build "build/$name"
