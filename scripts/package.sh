#!/bin/sh
# Makes Debian packages of the release build: libpolychron0, libpolychron-dev and polychron, into build/packages.
# Usage: package.sh
set -eu
. "$(dirname "$0")/common.sh"

sh scripts/setup.sh
sh scripts/build.sh release
rm -rf build/packages
quietly packages cpack --config build/CPackConfig.cmake -B build/packages
rm -rf build/packages/_CPack_Packages
for package in build/packages/*.deb; do
  say "$package: $(dpkg-deb --field "$package" Package), $(($(wc -c <"$package") / 1024)) KiB"
done
