#!/bin/sh
# The tests of the npm package webnn, after build: the sources', then those of the packed file in a fresh folder. Ends in
# a line that counts them. Usage: test.sh [OPTION OF node --test...]
set -eu
cd "$(dirname "$0")"
node generate.mjs
node pack.mjs ../../build/node ../../build/node
WEBNN_PACKAGE=$(ls -t "$PWD"/../../build/node/webnn-*.tgz | head -n 1)
export WEBNN_PACKAGE
node --test --test-reporter=spec "$@" test/*.test.mjs | awk -f ../../scripts/node-test-counts.awk
