#!/bin/sh
# Side by side with ONNX Runtime (onnxruntime-node), in turn, on the demo's two models; then what a
# dispatch costs, and whether it stays so. Figures are medians of this run: compare the ratios.
# Usage: bench.sh [THREADS, default 1]
set -eu
. "$(dirname "$0")/common.sh"

threads=${1:-1}
seconds=3
sh scripts/setup.sh peer
sh scripts/build.sh release

ours() {  # MODEL BINDING: median in ms
  build/bin/polychron bench "$1" --bind "$2" --threads "$threads" --seconds $seconds --json |
    sed -n 's/.*"median_ms": *\([0-9.]*\).*/\1/p'
}
theirs() { node bench/onnxruntime.mjs "$1" "$threads" $seconds "$2"; }

# Three pairs, in turn: the machine's speed may drift.
side_by_side() {  # NAME MODEL BINDING
  for pair in 1 2 3; do
    a=$(ours "$2" "$3")
    b=$(theirs "$2" "$3")
    printf '%s, %s, %s thread(s): Polychron %s ms, ONNX Runtime %s ms, ratio %s\n' "$1" "$3" \
      "$threads" "$a" "$b" "$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f", a / b }')"
  done
}

side_by_side recognition "$models/ch_PP-OCRv4_rec_infer.onnx" x=1x3x48x320
side_by_side detection "$models/ch_PP-OCRv4_det_infer.onnx" x=1x3x640x640
build/bin/bench_dispatch
build/bin/bench_scale
