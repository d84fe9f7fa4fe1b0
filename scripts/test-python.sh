#!/bin/sh
# The wheels of the Python package, on the Polychron in build/prefix: built, repaired, judged, installed into a fresh
# virtual environment of each Python, and tested there. Ends in a line that counts the tests.
# Usage: test-python.sh [OPTION OF pytest...]
#   POLYCHRON_PYTHONS  the interpreters, from 3.11; default: those of pyenv, or python3
#   POLYCHRON_RAY      the version whose tests also start a cluster of Ray; default: the first one's
set -eu
. "$(dirname "$0")/common.sh"
out=$root/build/python
tools=$root/build/python-tools/bin
pythons=${POLYCHRON_PYTHONS:-$(ls "$HOME"/.pyenv/versions/3.1[1-9].*/bin/python3 2>/dev/null || command -v python3)}
export LD_LIBRARY_PATH="$root/build/prefix/lib" CMAKE_PREFIX_PATH="$root/build/prefix"
export PATH="$tools:$PATH"  # auditwheel looks for patchelf there
passed=0 failed=0 skipped=0
mkdir -p "$root/build/log"
rm -rf "$out/wheels" "$out/raw"

# number WORD FILE: the number before WORD in pytest's last line.
number() {
  found=$(tail -n 1 "$2" | grep -oE "[0-9]+ $1" | cut -d' ' -f1)
  say "${found:-0}"
}

# wheel PYTHON TAG: the repaired wheel of that tag, which is built if there is none.
wheel() {
  ls "$out"/wheels/polychron-*-"$2"-*.whl 2>/dev/null && return
  (quietly "wheel-$2" "$1" -m pip wheel -q --no-deps -w "$out/raw" ./bindings/python &&
    quietly "repair-$2" "$tools/auditwheel" repair -w "$out/wheels" "$out"/raw/polychron-*-"$2"-*.whl) || return 1
  ls "$out"/wheels/polychron-*-"$2"-*.whl
}

for python in $pythons; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  tag=cp312-abi3
  [ "$version" != 3.11 ] || tag=cp311
  file=$(wheel "$python" $tag) || { failed=$((failed + 1)); continue; }
  say "python $version: $(basename "$file")"
  if [ $tag = cp312-abi3 ]; then
    if quietly abi3audit "$tools/abi3audit" --strict "$file"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  fi
  environment=$out/venv-$version
  rm -rf "$environment"
  quietly "venv-python-$version" "$python" -m venv "$environment"
  quietly "pip-python-$version" "$environment/bin/pip" install -q -r bindings/python/requirements.txt "$file"
  if [ "$version" = "${POLYCHRON_RAY:=$version}" ]; then
    (quietly pip-ray "$environment/bin/pip" install -q -r bindings/python/requirements-ray.txt) ||
      say "python $version: Ray could not be installed"
  fi
  log=$root/build/log/pytest-$version.log
  (unset LD_LIBRARY_PATH && "$environment/bin/python" -m pytest -q -rs -p no:cacheprovider -c bindings/python/pyproject.toml "$@" bindings/python/tests 2>&1) | tee "$log"
  passed=$((passed + $(number passed "$log"))) skipped=$((skipped + $(number skipped "$log")))
  failed=$((failed + $(number failed "$log") + $(number 'errors?' "$log")))
  [ "$(number passed "$log")" -gt 0 ] || failed=$((failed + 1))
done
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
