#!/bin/sh
# The tests of the programs that make the benchmarks' table. Ends in a line that counts them; exits non-zero
# if any failed. A test is skipped without the package of `scripts/setup.sh peer` that it needs, or where the
# tool (../../build/bin/polychron) that it needs is not built.
# Usage: test.sh [OPTION OF node --test...]
set -eu
cd "$(dirname "$0")"
node --test --test-reporter=spec "$@" table/test/*.test.mjs | awk -f ../../scripts/node-test-counts.awk
