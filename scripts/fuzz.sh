#!/bin/sh
# Fuzzes: damaged models through the importer, random graphs through the builder, damaged .npy, GGUF and tokenizer.json
# files, bytes of the server's clients through its parsers, under the address and undefined behaviour sanitizers.
# Installs and builds what is missing, runs each target, and ends in "N passed, N failed, N skipped", a target each.
# Usage: fuzz.sh [SECONDS] [TARGET...]
#   SECONDS  for each target: 60 if not given
#   TARGET   onnx, builder, npy, gguf, tokenizer, server, sweep; all if none is named. sweep is not random: the same damages to every node
#            test of ONNX, one at a time, evenly fewer of them if SECONDS are less than 2400
# What is found stays in build/fuzz/findings, the corpus in build/fuzz/corpus: the next run begins with it.
# POLYCHRON_SEED=N: that seed of libFuzzer's, which prints its own otherwise.
set -eu
. "$(dirname "$0")/common.sh"

seconds=60
case ${1:-} in
  [0-9]*) seconds=$1; shift ;;
esac
[ $# -gt 0 ] || set -- onnx builder npy gguf tokenizer server sweep

passed=0 failed=0
fuzz=$root/build/fuzz programs=$root/build/asan/bin

count() {
  say "$passed passed, $failed failed, ${1:-0} skipped"
  [ "$failed" -eq 0 ]
}

if ! answer=$(sh scripts/setup.sh asan 2>&1); then
  say "skipped: fuzz: $(printf '%s\n' "$answer" | tail -n 1)"
  count $#
  exit
fi

# An allocation beyond 512 MiB is a finding: models and calls that ask for much are refused before.
limits="-timeout=10 -rss_limit_mb=2560 -malloc_limit_mb=512"

# report TARGET LOG: prints the failure, and how to repeat it.
report() {
  artifact=$(sed -n 's/.*Test unit written to //p' "$2" | tail -n 1)
  grep -E '^finding: |^==[0-9]+==ERROR: |runtime error: |^SUMMARY: ' "$2" | head -n 4 | grep . || tail -n 20 "$2"
  grep -E '^ +#[0-9]+ ' "$2" | head -n 24 || true
  if [ -n "$artifact" ]; then
    program=fuzz_$1
    [ "$1" != sweep ] || program=fuzz_onnx
    say "fuzz: $1: found ${artifact#"$root"/}; again: ${programs#"$root"/}/$program $limits ${artifact#"$root"/}"
    [ "$(wc -c <"$artifact")" -gt 8192 ] || say "base64: $(base64 -w 0 "$artifact")"
  fi
  say "fuzz: $1: all of its output: ${2#"$root"/}"
}

# sweep: its last line tells its progress.
sweep() {
  UBSAN_OPTIONS=print_stacktrace=1 "$programs/fuzz_sweep" "$fuzz/seeds/onnx" "$fuzz/findings" $((2400 / (seconds + 1) + 1))
}

# fuzz TARGET
fuzz() {
  mkdir -p "$fuzz/corpus/$1" "$fuzz/seeds/$1"
  # shellcheck disable=SC2086  # words
  UBSAN_OPTIONS=print_stacktrace=1 "$programs/fuzz_$1" $limits -max_total_time="$seconds" \
    ${POLYCHRON_SEED:+-seed=$POLYCHRON_SEED} -max_len=32768 -len_control=0 -detect_leaks=0 -entropic=0 \
    -print_final_stats=1 -artifact_prefix="$fuzz/findings/$1-" "$fuzz/corpus/$1" "$fuzz/seeds/$1"
}

# start TARGET: in the background; its output and its exit status go to files.
start() {
  log=$root/build/log/fuzz-$1.log
  rm -f "$log.status"
  (
    status=0
    if [ "$1" = sweep ]; then sweep; else fuzz "$1"; fi >"$log" 2>&1 || status=$?
    echo $status >"$log.status"
  ) &
}

# ended TARGET: prints its progress, and counts it.
ended() {
  log=$root/build/log/fuzz-$1.log
  if [ "$1" = sweep ]; then
    say "fuzz: $(tail -n 1 "$log")"
  else
    executions=$(sed -n "s/^stat::number_of_executed_units: *//p" "$log" | tail -n 1)
    rate=$(sed -n "s/^stat::average_exec_per_sec: *//p" "$log" | tail -n 1)
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    say "fuzz: $1: ${executions:-?} executions, ${rate:-?} a second, ${coverage:-?} edges reached," \
      "$(find "$fuzz/corpus/$1" -type f | wc -l) inputs kept"
  fi
  if [ "$(cat "$log.status" 2>/dev/null)" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    report "$1" "$log"
  fi
}

targets=
for target in "$@"; do targets="$targets fuzz_$target"; done
# shellcheck disable=SC2086  # words
if ! sh scripts/build.sh asan fuzz_seeds $targets; then
  failed=$#
  count
  exit
fi
data=/usr/share/libonnx-testdata/data
[ -d "$fuzz/seeds" ] || quietly fuzz-seeds "$programs/fuzz_seeds" $data "$fuzz/seeds"

mkdir -p "$fuzz/findings" "$root/build/log" "$fuzz/seeds/server"
# The first byte chooses the parser: a request, a path, a configuration, a load call, a tokenizer.
json='{"id":"1","inputs":[{"name":"x","datatype":"FP32","shape":[1],"data":[1.5]}],"outputs":[{"name":"y"}]}'
printf '\000%s' "$json" >"$fuzz/seeds/server/json"
printf '\002/v2/models/m%%20n/versions/1/infer?a=b' >"$fuzz/seeds/server/path"
printf '\004{"lanes":2,"bindings":{"x":[1,2]},"sizes":{"n":[2,8]},"warm":[{"n":2}]}' >"$fuzz/seeds/server/config"
messages='[{"role":"user","content":[{"type":"text","text":"a"}]}]'
printf '\006{"model":"m","prompt":"a","stop":["b"],"seed":1,"top_p":0.5}' >"$fuzz/seeds/server/prompt"
printf '\206{"model":"m","messages":%s,"stream":true,"stream_options":{}}' "$messages" >"$fuzz/seeds/server/chat"
printf '\005{"parameters":{"config":"{}","file:1/model.onnx":"AAAA"}}' >"$fuzz/seeds/server/load"
{ printf '\007'; cat apps/server/tests/tokenizer.json; } >"$fuzz/seeds/server/tokenizer"
# GGUF: two values, then a tensor of 4 float32 behind the header.
mkdir -p "$fuzz/seeds/gguf"
{
  printf 'GGUF\003\0\0\0\001\0\0\0\0\0\0\0\002\0\0\0\0\0\0\0'
  printf '\024\0\0\0\0\0\0\0general.architecture\010\0\0\0\005\0\0\0\0\0\0\0llama'
  printf '\021\0\0\0\0\0\0\0llama.block_count\004\0\0\0\002\0\0\0'
  printf '\001\0\0\0\0\0\0\0w\001\0\0\0\004\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0%048d' 0
} >"$fuzz/seeds/gguf/small"
mkdir -p "$fuzz/seeds/tokenizer"
words='"pre_tokenizer":{"type":"ByteLevel"}' added='"added_tokens":[{"id":5,"content":"<|im_end|>","special":true}]'
vocabulary='"vocab":{"h":0,"e":1,"l":2,"o":3,"he":4},"merges":["h e"]'
{
  printf '{%s,%s,"model":{"type":"BPE",%s}}' "$added" "$words" "$vocabulary"
  printf '\000{"eos_token":"<|im_end|>"}\000{"eos_token_id":[5],"max_position_embeddings":64}'
} >"$fuzz/seeds/tokenizer/bytes"
normal='"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"\342\226\201"}'
printf '{%s,%b,"model":{"type":"BPE","byte_fallback":true,%s}}' "$added" "$normal" "$vocabulary" >"$fuzz/seeds/tokenizer/pieces"
say "fuzz: $* for about $seconds seconds each, two at a time"
trap 'kill 0' INT TERM HUP
while [ $# -gt 0 ]; do
  first=$1 second=${2:-}
  shift
  start "$first"
  if [ -n "$second" ]; then
    shift
    start "$second"
  fi
  wait
  ended "$first"
  [ -z "$second" ] || ended "$second"
done
count
