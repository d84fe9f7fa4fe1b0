#!/bin/sh
# Installs what is missing, builds, runs every test, and ends in a line that counts the test cases:
# "N passed, N failed, N skipped". Exits non-zero if any failed. Usage: test.sh [release|debug|asan]
set -eu
. "$(dirname "$0")/common.sh"

preset=${1:-release}
sh scripts/setup.sh
sh scripts/build.sh "$preset"
directory=build
[ "$preset" = release ] || directory=build/$preset

say "test: $preset"
status=0
ctest --test-dir "$directory" --output-on-failure --no-tests=error --timeout 900 || status=$?

# CTest counts suites; its log has Boost.Test's report of each, which counts cases (as skipped, those
# of other suites: they do not count here). A suite that ended without a report (a crash, a time
# limit) is one failed case. A case that cannot run here says so: "skipped: no models".
awk -v status="$status" '
  function close_entry() {
    if (entry != "" && !reported) { if (result ~ /^Test Passed/) passed++; else failed++ }
  }
  /^[0-9]+\/[0-9]+ Testing: / { close_entry(); entry = $3; reported = 0; result = "" }
  /^Test (Passed|Failed)/ { result = $0 }
  /^Required regular expression found\./ { result = "Test Passed" }
  /^(\033\[[0-9;]*m)?skipped: / { skipped++; passed-- }
  /^ +[0-9]+ test cases? out of [0-9]+ (passed|failed)/ {
    reported = 1
    if (/ passed/) passed += $1; else failed += $1
  }
  END {
    close_entry()
    if (status != 0 && failed == 0) failed = 1
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  }' "$directory/Testing/Temporary/LastTest.log"
exit "$status"
