#!/bin/sh
# Makes Debian packages of the release build: libpolychron0, libpolychron-dev and polychron, into build/packages.
# With arm64: also those of that architecture, and its npm package webnn, into build/packages-arm64, all compiled here.
# Usage: package.sh [arm64]
set -eu
. "$(dirname "$0")/common.sh"

# pack BUILD FOLDER [CPACK_OPTION...]
pack() {
  build=$1 folder=$2
  shift 2
  rm -rf "$folder"
  quietly "$(basename "$folder")" cpack --config "$build/CPackConfig.cmake" "$@" -B "$folder"
  rm -rf "$folder/_CPack_Packages"
  for package in "$folder"/*.deb; do
    say "$package: $(dpkg-deb --field "$package" Package), $(($(wc -c <"$package") / 1024)) KiB"
  done
}

[ $# -eq 0 ] || [ "$*" = arm64 ] || die "usage: package.sh [arm64]"
sh scripts/setup.sh
sh scripts/build.sh release
pack build build/packages
[ $# -gt 0 ] || exit 0

sh scripts/setup.sh arm64
sh scripts/setup.sh node
. scripts/arm64.sh
build_arm64 product
# Libraries have the same packages and versions on both, so the packages depend on the same.
for package in library:libpolychron0 development:libpolychron-dev tools:polychron; do
  depends=$(dpkg-deb --field build/packages/"${package#*:}"_*.deb Depends)
  set -- "$@" -D "CPACK_DEBIAN_$(say "${package%%:*}" | tr a-z A-Z)_PACKAGE_DEPENDS=$depends"
done
shift
pack build/arm64 build/packages-arm64 -D CPACK_DEBIAN_PACKAGE_ARCHITECTURE=arm64 -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF "$@"
say "arm64: npm package, from build/node-arm64"
for component in library development; do
  quietly arm64-install cmake --install build/arm64 --prefix "$arm/usr/local" --component "$component"
done
quietly arm64-configure-node cmake -S bindings/node -B build/node-arm64 -G Ninja -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_TOOLCHAIN_FILE="$root/scripts/cmake/arm64.cmake" \
  -D WEBNN_OUTPUT="$root/build/node-arm64"
quietly arm64-build-node cmake --build build/node-arm64
(cd bindings/node && node generate.mjs && node pack.mjs ../../build/node-arm64 ../../build/packages-arm64)
