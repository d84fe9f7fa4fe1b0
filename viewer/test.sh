#!/bin/sh
# The viewer's tests: types, whether page.html is what the sources make, units, and a real browser.
# Ends in a line that counts them; exits non-zero if any failed. Pages of the tool's are made by
# $POLYCHRON (../build/bin/polychron); where there is none, of generated data.
# VIEWER_SHOTS=folder keeps the screenshots; POLYCHRON_SEED repeats a random layout.
# Usage: test.sh [OPTION OF node --test --test-reporter=spec --test-concurrency=2 "$@" test/*.test.mjs | awk -f ../scripts/node-test-counts.awk
