#!/bin/sh
# The tests of what makes the benchmarks' table. Ends in a line that counts them; exits non-zero if any
# failed. What needs a package that scripts/setup.sh installs for `peer` only is skipped without it, and
# so is what needs the tool (../build/bin/polychron) where it is not built.
# Usage: test.sh [OPTION OF node --test...]
set -eu
cd "$(dirname "$0")"
node --test --test-reporter=spec "$@" table/test/*.test.mjs | awk -f ../scripts/node-test-counts.awk
