#!/bin/sh
# The viewer's tests: types, whether page.html is what the sources make, units, and a real browser.
# VIEWER_SHOTS=folder keeps the screenshots; POLYCHRON_SEED repeats a random layout.
set -eu
cd "$(dirname "$0")"
if ! [ -x node_modules/.bin/tsc ] || ! [ -d node_modules/playwright-core ]; then
  npm ci --ignore-scripts --no-audit --no-fund
fi
node_modules/.bin/tsc --noEmit
node build.mjs --check
exec node --test --test-concurrency=1 "$@" test/*.test.mjs
