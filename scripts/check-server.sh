#!/bin/sh
# Installs the server's Debian package in a bare root of this machine's own release, and boots it: systemd runs the
# unit, in its sandbox. Ends in "N passed, N failed, N skipped". Usage: check-server.sh
#
# bare-root.sh lists its needs. Also systemd-nspawn, and sh scripts/consumer.sh server apps/server before.
# shellcheck disable=SC2016
set -eu
. "$(dirname "$0")/common.sh"

topic=server-package cases=1
. scripts/bare-root.sh

make_root() {
  bootstrap "$here"
  inside 'apt-get install -qq -y --no-install-recommends curl dbus systemd'
  mkdir "$bare/packages"
  cp build/packages/*.deb "$bare/packages/"
  cp -r apps/server/tests/models "$bare/packages/"
  cat >"$bare/packages/try" <<'SCRIPT'
set -eux
answers() {  # the address answers, after some tries
  for _ in $(seq 100); do
    if curl -sf "$1" -o /dev/null; then return; fi
    sleep 0.1
  done
  return 1
}
cd /packages
systemctl enable --now polychron-server
cp models/product.onnx models/slow.onnx /var/lib/polychron/models/
answers localhost:8000/v2/models/slow/ready
curl -sf localhost:8000/v2/models/product/infer -d '{"inputs": [
  {"name": "a", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]},
  {"name": "b", "datatype": "FP32", "shape": [2, 1], "data": [3, 4]}]}' | grep -F '"data":[11]'
curl -sf localhost:8000/v2/models/slow/infer -d '{"inputs": [
  {"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [1]}]}'
echo 'POLYCHRON_OPTIONS="--http 8002 --poll-ms 0 --threads 2"' >/etc/default/polychron-server
systemctl restart polychron-server
answers localhost:8002/v2/models/slow/ready
cp models/simple.onnx /var/lib/polychron/models/
systemctl reload polychron-server
answers localhost:8002/v2/models/simple/ready
systemctl kill -s KILL polychron-server  # comes again
answers localhost:8002/v2/models/simple/ready
systemctl stop polychron-server
systemctl show polychron-server -p Result | grep -x Result=success
systemctl start polychron-server
answers localhost:8002/v2/models/simple/ready
apt-get remove -qq -y polychron-server
if curl -sf localhost:8002/v2 -o /dev/null; then exit 1; fi
echo ok >/packages/result
SCRIPT
  cat >"$bare/etc/systemd/system/try.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh /packages/try
ExecStopPost=/bin/sh -c "journalctl -b --no-pager -u try -u polychron-server >/packages/journal"
ExecStopPost=systemctl --no-block poweroff
[Install]
WantedBy=multi-user.target
UNIT
  inside 'cd /packages
    apt-get install -qq -y --no-install-recommends ./libpolychron0_*.deb ./polychron-server_*.deb
    systemctl enable try'
}

boot() {
  systemd-nspawn --directory "$bare" --boot --private-network --register=no --keep-unit --console=pipe </dev/null
  cat "$bare/packages/journal"
  grep -qx ok "$bare/packages/result"
}

[ -x build/server/bin/polychron-server ] || skip "build/server is missing: sh scripts/consumer.sh server apps/server"
if ! command -v systemd-nspawn >/dev/null; then
  say "$topic: installing systemd-container"
  apt-get install -qq -y --no-install-recommends systemd-container >/dev/null 2>&1 || skip "no systemd-nspawn"
fi
sh scripts/package.sh
quietly server-package cpack --config build/server/CPackConfig.cmake -B build/packages
say "$topic: a bare root of $here"
logged make_root
[ $status -eq 0 ] || skip "no bare root: $(tail -n 1 "$log")"
attempt boot "systemd starts, reloads, restarts and stops the server, and removes it"
finish
