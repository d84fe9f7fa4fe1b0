#!/bin/sh
# Builds the API reference, from the public headers and the pages of docs/, into build/docs/html; installs
# Doxygen if that is missing. Fails if something public is not documented, if Doxygen complains (a wrong
# \param, a reference to nothing), and if a link leads nowhere. Usage: docs.sh [check]
#   check  installs nothing and leaves nothing behind: complains, or says how much is documented
set -eu
. "$(dirname "$0")/common.sh"

POLYCHRON_VERSION=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
export POLYCHRON_VERSION

# run_doxygen [SETTING...]: the project's Doxyfile with other settings. Complaints name the file from the
# project's root.
run_doxygen() {
  complaints=$({ cat docs/Doxyfile; printf '%s\n' "$@"; } | doxygen - 2>&1) ||
    die "$(printf '%s\n' "$complaints" | sed -e "s|^$root/||" -e 's/^error: //' | awk '!told[$0]++')"
}

# count_members FOLDER: "802 of 802", documented among all that are public.
count_members() {
  count=$(awk -f docs/doxygen/undocumented.awk "$1"/class*.xml "$1"/struct*.xml \
    "$1"/namespace*.xml "$1"/concept*.xml)
  [ "$(printf '%s\n' "$count" | wc -l)" -eq 1 ] || die "$count"
}

case ${1:-} in
  check)
    command -v doxygen >/dev/null || die "doxygen is not installed: scripts/setup.sh docs"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    run_doxygen "OUTPUT_DIRECTORY = $work" "GENERATE_HTML = NO"
    count_members "$work/xml"
    say "docs: $count public members are documented"
    ;;
  "")
    sh scripts/setup.sh docs
    rm -rf build/docs
    mkdir -p build/docs
    run_doxygen
    count_members build/docs/xml
    broken=$(awk -f docs/doxygen/links.awk build/docs/html/*.html)
    [ -z "$broken" ] || die "$broken"
    rm -rf build/docs/xml
    say "docs: build/docs/html/index.html: $count public members are documented"
    ;;
  *) die "usage: docs.sh [check]" ;;
esac
