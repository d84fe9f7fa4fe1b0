#!/bin/sh
# Measures polychron-server beside a server around onnxruntime-node, in turn, with the same requests of the same models:
# requests a second, percentiles, peak memory. Installs and builds what it needs.
# Usage: bench-serve.sh [SECONDS]   (of each row; 8 if not given)
set -eu
. "$(dirname "$0")/common.sh"
sh scripts/setup.sh peer >&2
sh scripts/setup.sh server >&2
sh scripts/consumer.sh server server >&2
models=$root/build/models/served
/usr/bin/python3 -B tests/bench/models/generate.py "$models" mlp minilm mobilenet_v2 >&2
exec python3 server/bench/compare.py build/server/bin/polychron-server "$models" "$@"
