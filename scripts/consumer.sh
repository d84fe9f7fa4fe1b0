#!/bin/sh
# Builds a product that stands on an installed Polychron (server, webnn), in build/NAME. The release build is installed
# into build/prefix first, as users have it.
# Usage: consumer.sh NAME FOLDER [CMAKE_OPTION...]
set -eu
. "$(dirname "$0")/common.sh"
name=$1 folder=$2
shift 2
sh scripts/build.sh release
quietly "install-$name" cmake --install build --prefix build/prefix
say "build: $name, into build/$name"
quietly "configure-$name" cmake -S "$folder" -B "build/$name" -G Ninja -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_PREFIX_PATH="$root/build/prefix" "$@"
quietly "build-$name" cmake --build "build/$name"
