#!/bin/sh
# Measures polychron-server beside two servers around ONNX Runtime, one for Node and one in Python, in turn and with the
# same requests: throughput and percentiles, goodput under overload (a plot), memory after varying shapes.
# Installs and builds what it needs. After that it took 14 minutes on two quiet cores.
# Usage: bench-serve.sh [OPTION...]   (those of apps/server/bench/compare.py; --seconds 1 --requests 500 for a try)
set -eu
. "$(dirname "$0")/common.sh"
sh scripts/setup.sh peer >&2
sh scripts/setup.sh server-tests >&2
python_peers
sh scripts/consumer.sh server apps/server >&2
models=$root/build/models/served
/usr/bin/python3 -B apps/server/bench/models.py "$models" >&2
exec build/peers/bin/python3 -B apps/server/bench/compare.py build/server/bin/polychron-server "$models" \
  --plot build/overload.svg "$@"
