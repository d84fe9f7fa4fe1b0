#!/bin/sh
# The viewer's tests: types, whether page.html is what the sources make, units, and a real browser.
# Ends in a line that counts them; exits non-zero if any failed. Pages of the tool's are made by
# $POLYCHRON (../../build/bin/polychron); where there is none, of generated data.
# VIEWER_SHOTS=folder keeps the screenshots; POLYCHRON_SEED repeats a random layout.
# Usage: test.sh [OPTION OF node --test...], such as --test-name-pattern='200,000'
set -eu
cd "$(dirname "$0")"
if ! [ -x node_modules/.bin/tsc ] || ! [ -d node_modules/playwright-core ]; then
  npm ci --ignore-scripts --no-audit --no-fund
fi
node_modules/.bin/tsc --noEmit
node build.mjs --check
# Two at a time, as there are tests that wait for a browser; frame times are best taken alone.
node --test --test-reporter=spec --test-concurrency=2 "$@" test/*.test.mjs | awk -f ../../scripts/node-test-counts.awk
