# shellcheck shell=sh disable=SC2154
# Sourced, after common.sh, by scripts that compile for arm64. Debian's packages of arm64 are unpacked into
# build/arm64-root, as libraries to link with: none of their programs runs.
arm=$root/build/arm64-root
export POLYCHRON_ARM64_ROOT="$arm"
export PKG_CONFIG_LIBDIR="$arm/usr/lib/aarch64-linux-gnu/pkgconfig:$arm/usr/share/pkgconfig"
export PKG_CONFIG_SYSROOT_DIR="$arm"

# on_arm PROGRAM [ARGUMENT...]: under qemu.
on_arm() {
  qemu-aarch64-static -L "$arm" "$@"
}

# apt for arm64, with lists and packages of its own: some of the packages cannot be installed beside those of here.
arm_apt() {
  apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root \
    -o Dir::State="$arm.apt" -o Dir::State::status="$arm.apt/status" -o Dir::Cache="$arm.apt/cache" "$@"
}

# Links that begin with / would lead out of the root.
relative_links() {
  find "$arm" -type l | while read -r link; do
    to=$(readlink "$link")
    case $to in /*) ln -snf "$(realpath -m --relative-to="$(dirname "$link")" "$arm$to")" "$link" ;; esac
  done
}

make_arm_root() {
  boost=
  [ "$(sed -n 's/^VERSION_ID="*\([0-9]*\)"*$/\1/p' /etc/os-release)" != 12 ] || boost=1.81
  rm -rf "$arm" "$arm.apt"
  mkdir -p "$arm" "$arm.apt/lists/partial" "$arm.apt/cache/archives/partial"
  : >"$arm.apt/status"
  arm_apt update -qq
  arm_apt install -qq -y --no-install-recommends --download-only "libboost-test$boost-dev" libc6-dev libcaf-dev \
    libcli11-dev libdnnl-dev libeigen3-dev libgomp1 libgoogle-perftools-dev libhwy-dev libjpeg62-turbo-dev libonnx-dev \
    libopencv-core-dev libopencv-imgproc-dev libpng-dev libprotobuf-dev libstdc++-12-dev libtiff-dev libwebp-dev \
    nlohmann-json3-dev ocl-icd-opencl-dev zlib1g-dev
  for package in "$arm.apt"/cache/archives/*.deb; do dpkg-deb -x "$package" "$arm"; done
  rm -rf "$arm.apt"
  relative_links
  # Which packages' scripts would choose.
  (cd "$arm/usr/lib/aarch64-linux-gnu" && ln -s lapack/liblapack.so.3 blas/libblas.so.3 .)
  touch "$arm/complete"
}

# build_arm64 TARGET...: into build/arm64.
build_arm64() {
  [ -f "$arm/complete" ] || { say "arm64: a root of Debian's packages" && quietly arm64-root make_arm_root; }
  say "arm64: build, into build/arm64"
  quietly configure-arm64 cmake -S . -B build/arm64 -G Ninja -D CMAKE_BUILD_TYPE=Release -D POLYCHRON_UNITY=ON \
    -D POLYCHRON_BENCH=OFF -D CMAKE_TOOLCHAIN_FILE=scripts/cmake/arm64.cmake
  quietly build-arm64 cmake --build build/arm64 --target "$@"
}
