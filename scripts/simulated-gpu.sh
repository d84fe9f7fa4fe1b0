#!/bin/sh
# Runs a command with a simulated GPU as the machine's only one: tests/gpu/driver, which needs PoCL (Debian's
# pocl-opencl-icd). PoCL compiles each kernel once and keeps it in build/gpu/cache.
# Usage: simulated-gpu.sh COMMAND...
set -eu
. "$(dirname "$0")/common.sh"
driver=$root/build/lib/libsimulated_gpu.so
[ -f "$driver" ] || die "$driver is not built: sh scripts/build.sh all"
mkdir -p "$root/build/gpu/vendors" "$root/build/gpu/cache"
echo "$driver" >"$root/build/gpu/vendors/simulated.icd"
export OCL_ICD_VENDORS="$root/build/gpu/vendors" POCL_CACHE_DIR="$root/build/gpu/cache"
exec "$@"
