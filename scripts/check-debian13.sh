#!/bin/sh
# Checks the current commit on the next release: in a bare root of Debian 13 it is built by that release's
# compiler with that release's libraries, does the main job and runs the tests. Ends in "N passed, N failed, N
# skipped": the tests' cases, and one for the job. Usage: check-debian13.sh
#
# bare-root.sh lists its needs. The root takes 6 GB, and the whole takes an hour on two cores.
set -eu
. "$(dirname "$0")/common.sh"

topic=debian13 cases=1
. scripts/bare-root.sh

# The models and the picture are copied from this clone.
make_root() {
  bootstrap trixie
  git clone -q . "$bare/srv/polychron"
  cp -R node_modules downloads "$bare/srv/polychron/"
}

do_the_job() {
  inside 'cd /srv/polychron && sh scripts/demo.sh && build/bin/polychron --version'
}

run_tests() {
  inside 'cd /srv/polychron && sh scripts/test.sh'
}

sh scripts/setup.sh
say "$topic: a bare root of trixie"
logged make_root
[ $status -eq 0 ] || skip "no bare root: $(tail -n 1 "$log")"
attempt do_the_job "the main job, from a clone"
say "$topic: scripts/test.sh"
logged run_tests
# shellcheck disable=SC2046  # three numbers
set -- $(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$log")
[ $# -eq 3 ] || set -- 0 1 0
[ "$2" -eq 0 ] || say "failed: see ${log#"$root"/}"
passed=$((passed + $1)) failed=$((failed + $2))
finish "$3"
