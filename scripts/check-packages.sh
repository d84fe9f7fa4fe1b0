#!/bin/sh
# Installs the Debian packages in a bare root of this machine's own release, as apt does it. First only those
# that run (the libraries, the tool). Then those that compile, with the newcomer's program built by
# find_package and by pkg-config. Then it removes both, after which nothing may be left. Ends in "N passed, N
# failed, N skipped", a case for each of the two. Usage: check-packages.sh
#
# bare-root.sh lists its needs. The root takes 900 MB.
set -eu
. "$(dirname "$0")/common.sh"

topic=packages cases=2
. scripts/bare-root.sh

make_root() {
  bootstrap "$here"
  mkdir "$bare/packages"
  cp build/packages/*.deb examples/quickstart/quickstart.cpp "$bare/packages/"
  cat >"$bare/packages/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(times_three LANGUAGES CXX)
find_package(polychron REQUIRED)
add_executable(times_three quickstart.cpp)
target_link_libraries(times_three PRIVATE polychron::polychron)
CMAKE
}

# files: every path in the root, except those that apt, dpkg and the linker write.
files() {
  (cd "$bare" && find . -xdev \( -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache \
    -o -path ./var/log -o -path ./packages -o -path ./etc/ld.so.cache \) -prune -o -print) | LC_ALL=C sort
}

# nothing_left: true if no file and no dpkg entry of Polychron is left.
nothing_left() {
  left=$(files | grep -i polychron || true)
  left=$left$(inside "dpkg-query -W -f='\${Package} \${db:Status-Abbrev}\n' '*polychron*' 2>/dev/null || true")
  [ -z "$left" ] && return
  say "left after the purge: $left"
  return 1
}

run_what_runs() {
  files >"$bare/packages/before"
  inside 'cd /packages
    apt-get install -qq -y --no-install-recommends ./libpolychron0_*.deb ./polychron_*.deb
    polychron --version
    polychron devices
    if ldd $(dpkg -L libpolychron0 polychron | grep -E "/bin/.|\.so\.0$") | grep "not found"; then exit 1; fi
    apt-get purge -qq -y --auto-remove polychron libpolychron0'
  nothing_left
  files >"$bare/packages/after"
  diff "$bare/packages/before" "$bare/packages/after"
}

compile_what_compiles() {
  inside 'cd /packages
    apt-get install -qq -y --no-install-recommends cmake g++ make pkg-config ./*.deb
    cmake -S . -B by-cmake
    cmake --build by-cmake
    g++ -std=c++20 quickstart.cpp -o by-pkg-config $(pkg-config --cflags --libs polychron)
    for program in by-cmake/times_three ./by-pkg-config; do
      printed=$($program)
      echo "$program: $printed"
      [ "$printed" = "3 6 9 12 " ]
    done
    apt-get purge -qq -y polychron libpolychron-dev libpolychron0'
  nothing_left
}

sh scripts/package.sh
say "packages: a bare root of $here"
logged make_root
[ $status -eq 0 ] || skip "no bare root: $(tail -n 1 "$log")"
attempt run_what_runs "the tool runs on what its package depends on, and goes without a trace"
attempt compile_what_compiles "the first program compiles by CMake and by pkg-config, and nothing is left"
finish
