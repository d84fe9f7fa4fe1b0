#!/bin/sh
# Installs what is missing, builds, runs the tests, and ends in a line that counts the test cases:
# "N passed, N failed, N skipped"; before it stands once more what failed, and what that said. Exits non-zero if any
# failed. Usage: test.sh [PRESET...]
#   release (if none is named), debug, asan: every test, and schedules that no test has tried before;
#     release: also the trace page's, in a browser, and those of the benchmarks' table
#   tsan: the tests with threads (api, protocol, replay, soak, teams) under the thread sanitizer, CAF compiled along
#   clang: all of it compiled by Clang, whose warnings are errors as well, and the quick tests run
#   packages: the Debian packages installed in a bare root, used and removed (see check-packages.sh)
#   debian13: the main job and the tests in a bare root of Debian 13 (see check-debian13.sh)
#   fuzz: each fuzz target for a minute, a case each
# POLYCHRON_MINUTES=N: tsan, clang and fuzz are skipped, which is said, where they could not be built in time to end
# by then.
set -eu
. "$(dirname "$0")/common.sh"

case ${POLYCHRON_MINUTES:-1} in
  *[!0-9]* | 0?*) die "POLYCHRON_MINUTES: '$POLYCHRON_MINUTES': expected a whole number of minutes" ;;
esac

passed=0 failed=0 skipped=0
failures=$root/build/log/failures.log
mkdir -p "$root/build/log"
: >"$failures"

# tell NAME [LOG]: what failed, and the end of what it said.
tell() {
  {
    say "failed: $1"
    [ $# -eq 1 ] || tail -n 40 "$2" 2>/dev/null || true
  } >>"$failures"
}

# keep NAME COMMAND...: its output is shown, and kept in $log.
keep() {
  log=$root/build/log/$1.log
  shift
  rm -f "$log.status"
  { status=0; "$@" 2>&1 || status=$?; say $status >"$log.status"; } | tee "$log"
  [ "$(cat "$log.status" 2>/dev/null || say 1)" -eq 0 ]
}

# CTest counts suites; its log has Boost.Test's report of each, which counts cases (as skipped, those
# of other suites: they do not count here). A suite that ended without a report (a crash, a time
# limit) is one failed case; so is one whose cases passed while the program failed (a sanitizer's
# report). A case that cannot run here says so: "skipped: no models". Of a suite that failed, lines
# which name an error and its last ones are added to the failures.
count_cases() {
  awk -v status="$1" -v preset="$3" -v report="$failures" '
    function close_entry() {
      if (entry != "" && (failures || result !~ /^Test Passed/)) tell()
      if (entry == "" || (reported && (failures || result ~ /^Test Passed/))) return
      if (reported) passed--
      if (result ~ /^Test Passed/) passed++; else failed++
    }
    function tell() {
      print "failed: " preset ": " entry >>report
      for (i = 1; i <= errors && i <= 40; i++) print error[i] >>report
      for (i = lines > 20 ? lines - 19 : 1; i <= lines; i++) print line[i % 20] >>report
    }
    /^[0-9]+\/[0-9]+ Testing: / {
      close_entry(); entry = $3; reported = failures = lines = errors = 0; result = ""
    }
    { line[++lines % 20] = $0 }
    /error: |ERROR: |WARNING: ThreadSanitizer|SUMMARY: |runtime error/ { error[++errors] = $0 }
    /^Test (Passed|Failed)/ { result = $0 }
    /^Required regular expression found\./ { result = "Test Passed" }
    /^(\033\[[0-9;]*m)?skipped: / { skipped++; passed-- }
    /^ +[0-9]+ test cases? out of [0-9]+ (passed|failed)/ {
      reported = 1
      if (/ passed/) passed += $1; else { failed += $1; failures = 1 }
    }
    END {
      close_entry()
      if (status != 0 && failed == 0) failed = 1
      print passed + 0, failed + 0, skipped + 0
    }' "$2/Testing/Temporary/LastTest.log"
}

# run_tests PRESET LAUNCHER ARGUMENT...: CTest with these arguments, and adds to the counts.
run_tests() {
  directory=build name=$1
  [ "$1" = release ] || directory=build/$1
  say "test: $1"
  shift
  status=0
  "$@" --test-dir "$directory" --output-on-failure --no-tests=error --timeout 900 || status=$?
  # shellcheck disable=SC2046  # three numbers
  set -- $(count_cases "$status" "$directory" "$name")
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# search PRESET: random programs under random schedules, another seed each time, which it prints. One case.
search() {
  directory=build schedules=200000
  [ "$1" = release ] || directory=build/$1 schedules=5000
  say "search: $1"
  if keep "search-$1" "$directory/bin/polychron" stress --schedules $schedules --jobs 2; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tell "$1: search" "$log"
  fi
}

# build_failed PRESET: on a terminal nothing of it is kept.
build_failed() {
  failed=$((failed + 1))
  if [ -t 1 ]; then tell "$1: build"; else tell "$1: build" "$root/build/log/build-$1.log"; fi
}

# build PRESET [TARGET...]: what cannot be built is one failed case.
build() {
  rm -f "$root/build/log/build-$1.log"
  sh scripts/build.sh "$@" && return
  build_failed "$1"
  return 1
}

# seconds_left MINUTES: of POLYCHRON_MINUTES, but for the last MINUTES.
began=$(date +%s)
seconds_left() {
  echo $(((POLYCHRON_MINUTES - $1) * 60 - ($(date +%s) - began)))
}

# build_in_time MINUTES PRESET TARGET...: builds, if MINUTES are left for its tests then.
build_in_time() {
  reserve=$1
  shift
  rm -f "$root/build/log/build-$1.log"
  if [ -z "${POLYCHRON_MINUTES:-}" ]; then
    build "$@"
    return
  fi
  left=$(seconds_left "$reserve") status=124
  if [ "$left" -gt 0 ]; then
    # In the background, so that whoever ends this script ends the build, which timeout has in a group of its own.
    status=0
    timeout -k 10 "$left" sh scripts/build.sh "$@" &
    job=$!
    trap 'kill "$job" 2>/dev/null; exit 130' INT TERM HUP
    wait "$job" || status=$?
    trap - INT TERM HUP
  fi
  case $status in
    0) return ;;
    124 | 137) skip "$1: $(($(date +%s) - began)) s are over, and it is not built (POLYCHRON_MINUTES=$POLYCHRON_MINUTES)" ;;
    *) build_failed "$1" ;;
  esac
  return 1
}

# skip REASON: what cannot run here is one skipped case.
skip() {
  say "skipped: $*"
  skipped=$((skipped + 1))
}

# The runtime of g++ 12's thread sanitizer fails where a newer kernel lays out the address space at
# random with more than 28 bits. setarch -R has it laid out in order; some containers forbid that.
test_tsan() {
  fixed="setarch $(uname -m) -R"
  if ! $fixed true 2>/dev/null; then
    fixed=
    if [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ]; then
      skip "tsan: vm.mmap_rnd_bits is above 28 and setarch -R is not allowed here"
      return
    fi
  fi
  if ! answer=$(sh scripts/setup.sh tsan 2>&1); then
    skip "tsan: $(printf '%s\n' "$answer" | tail -n 1)"
    return
  fi
  build_in_time 12 tsan test_api test_protocol test_replay test_soak test_teams || return 0
  options=exitcode=66:second_deadlock_stack=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}
  # shellcheck disable=SC2086  # words, or none
  run_tests tsan env TSAN_OPTIONS="$options" $fixed ctest -j 2 -L '^(api|protocol|replay|soak|teams)$'
}

# The other compiler sees every line. It does not optimise: tests that run for seconds are left out;
# so are those of defects that are planted, which may come to whatever a compiler makes of them.
test_clang() {
  if ! answer=$(sh scripts/setup.sh clang 2>&1); then
    skip "clang: $(printf '%s\n' "$answer" | tail -n 1)"
    return
  fi
  build_in_time 8 clang all || return 0
  run_tests clang ctest -j 2 -LE '^(conformance|package|planted|rules|scarcity|soak|style|tool)$' \
    -E '^protocol/small_scope$'
}

test_fuzz() {
  if [ -n "${POLYCHRON_MINUTES:-}" ] && sh scripts/setup.sh fuzz >/dev/null 2>&1; then
    build_in_time 7 fuzz fuzzers || return 0
  fi
  count_script scripts/fuzz.sh  # builds what is not, and says what cannot be
}

# The trace page, with recordings of the tool that was built, in Debian's Chromium.
test_viewer() {
  if ! answer=$(sh scripts/setup.sh viewer 2>&1); then
    skip "viewer: $(printf '%s\n' "$answer" | tail -n 1)"
    return
  fi
  say "test: viewer"
  count_script viewer/test.sh
}

# What makes the benchmarks' table, not what it measures.
test_bench() {
  say "test: bench"
  count_script bench/test.sh
}

# count_script FILE: a script which ends in a line of counts as well.
count_script() {
  script=$1
  keep "$(basename "$(dirname "$script")")-$(basename "$script" .sh)" sh "$script" || true
  # shellcheck disable=SC2046  # three numbers
  set -- $(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log")
  [ $# -eq 3 ] || set -- 0 1 0
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
  [ "$2" -eq 0 ] || tell "$script" "$log"
}

[ $# -gt 0 ] || set -- release
sh scripts/setup.sh tests
for preset in "$@"; do
  case $preset in
    tsan) test_tsan ;;
    clang) test_clang ;;
    packages) count_script scripts/check-packages.sh ;;
    debian13) count_script scripts/check-debian13.sh ;;
    fuzz) test_fuzz ;;
    *)
      build "$preset" all || continue
      run_tests "$preset" ctest
      search "$preset"
      if [ "$preset" = release ]; then
        test_bench
        test_viewer
      fi
      ;;
  esac
done
cat "$failures"
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
