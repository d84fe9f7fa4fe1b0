#!/bin/sh
# Records runs of the soak, makes each of them again, and counts those without a difference.
#
# Usage: replays.sh [RUNS [SECONDS [SEED [DIRECTORY]]]]   (1000 1 1 build/replays)
#
# Each run has the next seed. A recording that differs stays in DIRECTORY, with the differences. Ends in a
# line that counts; exits non-zero unless all were equal. POLYCHRON_SOAK_PAYLOADS=1 records the bytes of
# tensors, too, and compares values. Needs test_soak and polychron, built.
set -eu
. "$(dirname "$0")/common.sh"

runs=${1:-1000} seconds=${2:-1} seed=${3:-1} kept=${4:-build/replays}
programs=${POLYCHRON_BUILD:-build}/bin
for program in test_soak polychron; do
  [ -x "$programs/$program" ] || die "there is no $programs/$program: sh scripts/build.sh"
done
mkdir -p "$kept"

equal=0 different=0 others=0 calls=0 differences=0 run=0
while [ "$run" -lt "$runs" ]; do
  trace=$kept/$seed.trace said=$kept/$seed.txt
  if ! POLYCHRON_TRACE=$trace POLYCHRON_SOAK_SECONDS=$seconds POLYCHRON_SEED=$seed \
    "$programs/test_soak" > "$said" 2>&1; then
    others=$((others + 1))
    say "seed $seed: the soak itself failed: $said"
  else
    status=0
    "$programs/polychron" trace replay "$trace" > "$said" 2>&1 || status=$?
    count=$(sed -n 's/^\([0-9]*\) calls\{0,1\} on .*; \([0-9]*\) differences\{0,1\}$/\1 \2/p' "$said")
    if [ -z "$count" ]; then  # for instance one that lacks records that there was no room for
      others=$((others + 1))
      say "seed $seed: not compared: $(tail -n 1 "$said")"
    else
      calls=$((calls + ${count% *})) differences=$((differences + ${count#* }))
      if [ "$status" -eq 0 ]; then
        equal=$((equal + 1))
        rm -f "$trace" "$said"
      else
        different=$((different + 1))
        say "seed $seed: ${count#* } of ${count% *} calls differ: $said"
      fi
    fi
  fi
  run=$((run + 1)) seed=$((seed + 1))
  [ $((run % 50)) -ne 0 ] || say "$run of $runs: $equal equal"
done
say "$runs recordings of $seconds s: $equal equal, $different different, $others not compared;" \
  "$differences differences in $calls calls"
[ "$equal" -eq "$runs" ]
