#!/bin/sh
# Records runs of the soak, makes each of them again, and counts those that came again without a
# difference. Usage: replays.sh [RUNS [SECONDS [FIRST_SEED [DIRECTORY]]]] (1000 1 1 build/replays)
# The seed goes up by one a run. A recording that differs stays in DIRECTORY, with what was said of
# it. Exits non-zero if there is one, or one that could not be compared.
set -u
cd "$(dirname "$0")/.."
runs=${1:-1000} seconds=${2:-1} seed=${3:-1} directory=${4:-build/replays}
build=${POLYCHRON_BUILD:-build}
mkdir -p "$directory"
# `calls`, `differences`: of all recordings that could be compared.
equal=0 different=0 refused=0 unsound=0 calls=0 differences=0 run=0
while [ "$run" -lt "$runs" ]; do
  trace=$directory/$seed.trace said=$directory/$seed.txt
  if ! POLYCHRON_TRACE=$trace POLYCHRON_SOAK_SECONDS=$seconds POLYCHRON_SEED=$seed \
    "$build/bin/test_soak" > "$said" 2>&1; then
    unsound=$((unsound + 1))
    echo "seed $seed: the soak itself failed: $said"
  else
    "$build/bin/polychron" trace replay "$trace" > "$said" 2>&1
    status=$?
    count=$(sed -n 's/^\([0-9]*\) calls on .*; \([0-9]*\) differences\{0,1\}$/\1 \2/p' "$said")
    if [ -z "$count" ]; then
      refused=$((refused + 1))
      echo "seed $seed: not compared: $said"
    else
      calls=$((calls + ${count% *})) differences=$((differences + ${count#* }))
      if [ "$status" -eq 0 ] && [ "${count#* }" -eq 0 ]; then
        equal=$((equal + 1))
        rm -f "$trace" "$said"
      else
        different=$((different + 1))
        echo "seed $seed: ${count#* } differences: $said"
      fi
    fi
  fi
  run=$((run + 1)) seed=$((seed + 1))
  [ $((run % 50)) -ne 0 ] || echo "$run of $runs: $equal equal"
done
echo "$runs recordings of $seconds s: $equal equal, $different different, $refused not compared," \
  "$unsound failed; $differences differences in $calls calls"
[ "$equal" -eq "$runs" ]
