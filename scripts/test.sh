#!/bin/sh
# Installs what is missing, builds, runs tests, and ends in a line that counts the test cases: "N passed, N failed,
# N skipped". Before that line it repeats what failed. Exits non-zero if anything failed. Usage: test.sh [SET...]
#   release   (if no set is named) every test of the release build, schedules that no test has tried before, the
#             benchmarks' table, and the trace page in a browser
#   quick     the release build's tests that take seconds, and lint: for a change at hand
#   lint      formats and shell scripts (lint.sh)
#   tsan      the tests with threads (api, protocol, replay, soak, teams) under the thread sanitizer, CAF compiled along
#   asan      everything compiled by Clang, whose warnings are errors, and its tests under the address and undefined
#             behaviour sanitizers
#   fuzz      each fuzz target for a minute, a case each
#   server    polychron-server, built against an installed Polychron, and real clients of its protocol
#   node      the npm package webnn: addon, tests, the packed file
#   python    the Python package: a wheel for each Python, its tests in fresh virtual environments
#   nightly   all of these for hours: more schedules, an hour of each soak and of each fuzz target, packages, debian13 and
#             arm64
#   packages  the Debian packages installed in a bare root, used and removed (check-packages.sh)
#   debian13  the main job and the tests in a bare root of Debian 13 (check-debian13.sh)
#   arm64     compiled for arm64, tests under qemu (check-arm64.sh)
set -eu
. "$(dirname "$0")/common.sh"

passed=0 failed=0 skipped=0
failures=$root/build/log/failures.log
mkdir -p "$root/build/log"
: >"$failures"

# run NAME COMMAND...: shows what the command prints and keeps it. Its last line counts its cases.
run() {
  name=$1 log=$root/build/log/test-$1.log
  shift
  say "test: $name"
  rm -f "$log.status"
  { status=0; "$@" 2>&1 || status=$?; say $status >"$log.status"; } | tee "$log"
  status=$(cat "$log.status")
  # shellcheck disable=SC2046  # three numbers
  set -- $(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log")
  [ $# -eq 3 ] || set -- 0 0 0
  [ "$status" -eq 0 ] || [ "$2" -gt 0 ] || set -- "$1" 1 "$3"
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
  [ "$2" -eq 0 ] || { say "failed: $name"; tail -n 60 "$log"; } >>"$failures"
}

# one COMMAND...: a command that is one case.
one() {
  if "$@"; then say "1 passed, 0 failed, 0 skipped"; else say "0 passed, 1 failed, 0 skipped"; fi
}

# set_up SET: installs. Without its packages SET is skipped.
set_up() {
  answer=$(sh scripts/setup.sh "$1" 2>&1) && return
  say "skipped: $1: $(printf '%s\n' "$answer" | tail -n 1)"
  skipped=$((skipped + 1))
  return 1
}

# built SCRIPT SET [ARGUMENT...]: builds SET by the script. If that fails, SET has failed.
built() {
  script=$1
  shift
  sh "$script" "$@" && return
  failed=$((failed + 1))
  { say "failed: build of $1"; tail -n 60 "$root/build/log/build-$1.log" 2>/dev/null; } >>"$failures"
  return 1
}

# ready SET [TARGET...]: installs, and builds the preset of that name.
ready() {
  set_up "$1" && built scripts/build.sh "$@"
}

# consumer PACKAGES SET FOLDER [CMAKE_OPTION...]: installs, and builds a product of its own in build/SET, and the tool.
consumer() {
  set_up "$1" && shift && built scripts/build.sh release && built scripts/consumer.sh "$@"
}

# search DIRECTORY SCHEDULES: random programs under random schedules, another seed each time, which it prints.
search() {
  run "search-$(basename "$1")" one "$1/bin/polychron" stress --schedules "$2" --jobs 2
}

test_release() {
  ready release all || return 0
  run release python3 scripts/run_ctest.py build -j 2
  search build 200000
  run bench sh tests/bench/test.sh
  if set_up viewer; then run viewer sh observe/viewer/test.sh; fi
}

test_lint() {
  if set_up lint; then run lint sh scripts/lint.sh; fi
}

test_quick() {
  test_lint
  ready release all || return 0
  run quick python3 scripts/run_ctest.py build -j 2 -LE slow
}

# The runtime of g++ 12's thread sanitizer fails where a newer kernel lays out the address space at random
# with more than 28 bits. setarch -R has it laid out in order; some containers forbid that.
test_tsan() {
  fixed="setarch $(uname -m) -R"
  if ! $fixed true 2>/dev/null; then
    fixed=
    if [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ]; then
      say "skipped: tsan: vm.mmap_rnd_bits is above 28 and setarch -R is not allowed here"
      skipped=$((skipped + 1))
      return
    fi
  fi
  ready tsan test_api test_protocol test_replay test_soak test_teams || return 0
  options=exitcode=66:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}
  # Suites that search orders, faults and bytes for minutes on one thread, where there is no race.
  # shellcheck disable=SC2086  # words, or none
  run tsan env TSAN_OPTIONS="$options" $fixed python3 scripts/run_ctest.py build/tsan -j 2 \
    -L '^(api|protocol|replay|soak|teams)$' -E '^protocol/(cost|load|revocation|schedules|small_scope|timeline|wire)$'
}

# Without tests that compile by themselves or only look at sources.
test_asan() {
  ready asan all || return 0
  run asan python3 scripts/run_ctest.py build/asan -j 2 -LE "^(package|style$1)\$"
}

# The Python that has clients of the server's protocol, if they could be had.
clients_python() { ls "$root/build/clients/bin/python3" 2>/dev/null || command -v python3; }

test_server() {
  consumer server-tests server apps/server -D POLYCHRON_WERROR=ON -D POLYCHRON_SERVER_TESTS=ON \
    -D POLYCHRON_SERVER_PYTHON="$(clients_python)" || return 0
  run server python3 scripts/run_ctest.py build/server -j 2
}

test_node() {
  consumer node node bindings/node || return 0
  run node sh bindings/node/test.sh
}

test_python() {
  set_up python && built scripts/build.sh release && built scripts/consumer.sh python || return 0
  run python sh scripts/test-python.sh
}

test_nightly() {
  export POLYCHRON_NIGHTLY=1
  seed=$(date +%s)
  test_release
  search build 20000000
  run kernels one env POLYCHRON_SEED="$seed" POLYCHRON_SECONDS=3600 build/bin/test_kernels --log_level=message \
    --run_test=generated,generated_plans
  run gpu one sh scripts/simulated-gpu.sh build/bin/polychron conformance tests/conformance/cases --device gpu
  run gpu-onnx one sh scripts/simulated-gpu.sh build/bin/polychron onnx-tests /usr/share/libonnx-testdata/data --device gpu
  run gpu-page one sh scripts/simulated-gpu.sh build/bin/polychron-ocr "$page" --models "$models" --device gpu
  test_tsan
  # shellcheck disable=SC2086  # words, or none
  run soak one env POLYCHRON_SEED="$seed" POLYCHRON_SOAK_SECONDS=3600 $fixed build/tsan/bin/test_soak --log_level=message
  test_server
  run server-soak one "$(clients_python)" apps/server/tests/soak.py build/server/bin/polychron-server apps/server/tests/models
  test_node
  test_python
  test_asan ''
  search build/asan 50000
  run fuzz sh scripts/fuzz.sh 3600
  run packages sh scripts/check-packages.sh
  run server-package sh scripts/check-server.sh
  run debian13 sh scripts/check-debian13.sh
  run arm64 sh scripts/check-arm64.sh
}

[ $# -gt 0 ] || set -- release
for set_of_tests in "$@"; do
  case $set_of_tests in
    lint | release | quick | tsan | asan | fuzz | server | node | python | nightly | packages | debian13 | arm64) ;;
    *) die "no such set: '$set_of_tests' (lint, release, quick, tsan, asan, fuzz, server, node, python, nightly, packages, debian13 or arm64)" ;;
  esac
done
sh scripts/setup.sh tests
# What the sets need besides is fetched while the first of them are built.
for set_of_tests in "$@"; do
  case $set_of_tests in
    lint | node | tsan | asan | python) sh scripts/setup.sh "$set_of_tests" || true ;;
    release) sh scripts/setup.sh viewer || true ;;
    server) sh scripts/setup.sh server-tests || true ;;
  esac
done >build/log/setup-ahead.log 2>&1 &
for set_of_tests in "$@"; do
  case $set_of_tests in
    lint | release | quick | tsan | server | node | python | nightly) "test_$set_of_tests" ;;
    asan) test_asan '|slow' ;;
    fuzz) run fuzz sh scripts/fuzz.sh ;;
    packages | debian13 | arm64) run "$set_of_tests" sh "scripts/check-$set_of_tests.sh" ;;
  esac
done
cat "$failures"
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
