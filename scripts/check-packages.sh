#!/bin/sh
# Installs the Debian packages in a bare root of this machine's own release, as apt does it: first what runs
# (the libraries, the tool) and nothing else; then what compiles, with the newcomer's program built by
# find_package and by pkg-config; and removes both, after which nothing may be left. Ends in "N passed, N failed,
# N skipped", a case for each of the two. Usage: check-packages.sh
# Needs root, for debootstrap and for mounts, which end with the command that made them. The root takes 900 MB
# in TMPDIR (/var/tmp if not set) while the script runs; everything comes from the sources that apt has here.
set -eu
. "$(dirname "$0")/common.sh"

passed=0 failed=0
finish() {
  say "$passed passed, $failed failed, ${1:-0} skipped"
  [ "$failed" -eq 0 ]
  exit
}
skip() {
  say "skipped: packages: $*"
  finish 2
}

[ "$(id -u)" -eq 0 ] || skip "needs root"
# shellcheck disable=SC1091
codename=$(. /etc/os-release && say "${VERSION_CODENAME:-}")
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $codename" 'Component: main' \
  'Created-By: Packages' 2>/dev/null | head -n 1)
[ -n "$mirror" ] || skip "apt has no lists of ${codename:-this release}: apt-get update"
if ! command -v debootstrap >/dev/null; then
  say "packages: installing debootstrap"
  apt-get install -qq -y --no-install-recommends debootstrap >/dev/null 2>&1 || skip "no debootstrap"
fi
unshare --mount true 2>/dev/null || skip "mounts are not allowed here"

bare=$(mktemp -d "${TMPDIR:-/var/tmp}/polychron-packages.XXXXXX")
trap 'rm -rf --one-file-system "$bare"' EXIT
trap 'exit 1' HUP INT TERM

# inside COMMAND: in the root, with no more of the environment than the way to the network.
inside() {
  # shellcheck disable=SC2016  # the inner shell's
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
    ${no_proxy:+"no_proxy=$no_proxy"} unshare --mount sh -ec '
      mount -t proc proc "$1/proc"
      mount --rbind /dev "$1/dev"
      exec chroot "$1" sh -ec "$2"' sh "$bare" "$1"
}

make_root() {
  chmod 755 "$bare"
  unshare --mount debootstrap --variant=minbase "$codename" "$bare" "$mirror"
  # The sources of packages, and how to reach and to trust them, are this machine's.
  rm -f "$bare/etc/apt/sources.list"
  for path in etc/apt/sources.list etc/apt/sources.list.d etc/apt/trusted.gpg.d etc/apt/keyrings \
    etc/apt/auth.conf.d etc/apt/preferences.d usr/share/keyrings etc/ssl/certs etc/resolv.conf etc/hosts; do
    [ -e "/$path" ] || continue
    mkdir -p "$bare/$(dirname $path)"
    cp -RL "/$path" "$bare/$(dirname $path)/"
  done
  apt-config dump | grep '^Acquire::' >"$bare/etc/apt/apt.conf.d/90here"
  echo force-unsafe-io >"$bare/etc/dpkg/dpkg.cfg.d/90here"  # faster; the root will not be kept
  mkdir "$bare/packages"
  cp build/packages/*.deb examples/quickstart/quickstart.cpp "$bare/packages/"
  cat >"$bare/packages/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(times_three LANGUAGES CXX)
find_package(polychron REQUIRED)
add_executable(times_three quickstart.cpp)
target_link_libraries(times_three PRIVATE polychron::polychron)
CMAKE
  inside 'apt-get update -qq'
}

# files: every path in the root but what apt, dpkg and the linker write about.
files() {
  (cd "$bare" && find . -xdev \( -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/cache \
    -o -path ./var/log -o -path ./packages -o -path ./etc/ld.so.cache \) -prune -o -print) | LC_ALL=C sort
}

# nothing_left: of Polychron there is no file and no entry of dpkg's.
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

# logged FUNCTION: its output goes to a log; in a shell of its own, which ends where a command fails.
logged() {
  log=$root/build/log/packages-$1.log
  set +e
  (set -e; "$1") >"$log" 2>&1
  status=$?
  set -e
}

# attempt FUNCTION NAME: one case.
attempt() {
  logged "$1"
  if [ $status -eq 0 ]; then
    say "packages: $2"
    passed=$((passed + 1))
  else
    tail -n 30 "$log"
    say "failed: packages: $2 (all of its output: ${log#"$root"/})"
    failed=$((failed + 1))
  fi
}

sh scripts/package.sh
say "packages: a bare root of $codename"
logged make_root
[ $status -eq 0 ] || skip "no bare root: $(tail -n 1 "$log")"
attempt run_what_runs "the tool runs on what its package depends on, and goes without a trace"
attempt compile_what_compiles "the first program compiles by CMake and by pkg-config, and nothing is left"
finish
