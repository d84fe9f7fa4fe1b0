#!/bin/sh
# Checks what an editor would have mended: the format of C++ (clang-format) and of the npm package (prettier),
# shell scripts (shellcheck), and clang-tidy's findings in the C++ files that changed. The versions are pinned.
# Usage: lint.sh [--fix] [BASE]
#   --fix  writes the formats instead of checking them
#   BASE   clang-tidy reads the C++ files that changed since this commit; without one it does not run
# Its last line counts the checks: "N passed, N failed, N skipped".
set -eu
. "$(dirname "$0")/common.sh"

fix='' clang_format='--dry-run --Werror' prettier=--check
if [ "${1:-}" = --fix ]; then fix=yes clang_format=-i prettier=--write; shift; fi
base=${1:-}
tools=$root/build/lint/bin
passed=0 failed=0 skipped=0

# check NAME COMMAND...: one check.
check() {
  name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    say "failed: lint: $name"
    failed=$((failed + 1))
  fi
}

cpp() { git ls-files '*.cpp' '*.hpp'; }

# shellcheck disable=SC2086  # two options
format_cpp() { cpp | xargs "$tools/clang-format" $clang_format; }

format_js() {
  git ls-files bindings/node | grep -E '\.(js|mjs|ts)$' | grep -v '\.d\.ts$' | xargs bindings/node/node_modules/.bin/prettier --log-level warn \
    "$prettier"
}

# Every file that begins as a shell script does.
shell_scripts() {
  git grep -lE --max-depth -1 '^#!/bin/(ba)?sh' -- ':!*.md' | xargs "$tools/shellcheck" -x -P scripts -S warning
}

# Headers are seen through the files that include them.
tidy() {
  changed=$(git diff --name-only --diff-filter=d "$base" -- '*.cpp' ':!apps/server' ':!bindings/node') || return 1
  [ -n "$changed" ] || return 0
  [ -f build/editor/build.ninja ] || quietly configure-editor cmake --preset editor
  # shellcheck disable=SC2086  # a list of files
  printf '%s\n' $changed | xargs -P "$(nproc)" -n 1 "$tools/clang-tidy" -p build/editor --quiet --warnings-as-errors='*' \
    2>/dev/null
}

check clang-format format_cpp
check prettier format_js
check shellcheck shell_scripts
if [ -z "$fix" ] && [ -n "$base" ]; then check clang-tidy tidy; fi
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
