# shellcheck shell=sh disable=SC2016,SC2154
# Sourced, after common.sh and with $topic and $cases set, by scripts that try $cases things in a bare Debian
# root. Makes the root, runs commands in it and counts. Ends in "N passed, N failed, N skipped".
#
# Needs root, for debootstrap and for mounts, which end with the command that made them. The root is in TMPDIR
# (/var/tmp if not set) while the script runs; everything comes from the mirror that apt has here.
passed=0 failed=0
finish() {
  say "$passed passed, $failed failed, ${1:-0} skipped"
  [ "$failed" -eq 0 ]
  exit
}
skip() {
  say "skipped: $topic: $*"
  finish "$cases"
}

# shellcheck disable=SC1091
here=$(. /etc/os-release && say "${VERSION_CODENAME:-}")  # the release that runs this
[ "$(id -u)" -eq 0 ] || skip "needs root"
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $here" 'Component: main' \
  'Created-By: Packages' 2>/dev/null | head -n 1)
[ -n "$mirror" ] || skip "apt has no lists of ${here:-this release}: apt-get update"
if ! command -v debootstrap >/dev/null; then
  say "$topic: installing debootstrap"
  apt-get install -qq -y --no-install-recommends debootstrap >/dev/null 2>&1 || skip "no debootstrap"
fi
unshare --mount true 2>/dev/null || skip "mounts are not allowed here"

bare=$(mktemp -d "${TMPDIR:-/var/tmp}/polychron-$topic.XXXXXX")
trap 'rm -rf --one-file-system "$bare"' EXIT
trap 'exit 1' HUP INT TERM

# inside COMMAND: runs it in the root. Of the environment only the way to the network is passed on.
inside() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
    ${no_proxy:+"no_proxy=$no_proxy"} unshare --mount sh -ec '
      mount -t proc proc "$1/proc"
      mount --rbind /dev "$1/dev"
      exec chroot "$1" sh -ec "$2"' sh "$bare" "$1"
}

# copy PATH...: copies this machine's files to the same places in the root.
copy() {
  for path in "$@"; do
    [ -e "/$path" ] || continue
    mkdir -p "$bare/$(dirname "$path")"
    cp -RL "/$path" "$bare/$(dirname "$path")/"
  done
}

# bootstrap RELEASE: makes the root. Packages are reached and trusted as here. Their sources are this
# machine's if the release is; for another release they are the mirror.
bootstrap() {
  chmod 755 "$bare"
  unshare --mount debootstrap --variant=minbase "$1" "$bare" "$mirror"
  copy etc/apt/auth.conf.d etc/ssl/certs usr/local/share/ca-certificates etc/resolv.conf etc/hosts
  if [ "$1" = "$here" ]; then
    rm -f "$bare/etc/apt/sources.list"
    copy etc/apt/sources.list etc/apt/sources.list.d etc/apt/trusted.gpg.d etc/apt/keyrings \
      etc/apt/preferences.d usr/share/keyrings
  fi
  apt-config dump | grep '^Acquire::' >"$bare/etc/apt/apt.conf.d/90here"
  echo force-unsafe-io >"$bare/etc/dpkg/dpkg.cfg.d/90here"  # faster; the root will not be kept
  inside 'apt-get update -qq'
}

# logged FUNCTION: its output goes to a log. It runs in a shell of its own, which ends where a command fails.
logged() {
  log=$root/build/log/$topic-$1.log
  mkdir -p "$root/build/log"
  set +e
  (set -e; "$1") >"$log" 2>&1
  status=$?
  set -e
}

# attempt FUNCTION NAME: one case.
attempt() {
  logged "$1"
  if [ $status -eq 0 ]; then
    say "$topic: $2"
    passed=$((passed + 1))
  else
    tail -n 30 "$log"
    say "failed: $topic: $2 (all of its output: ${log#"$root"/})"
    failed=$((failed + 1))
  fi
}
