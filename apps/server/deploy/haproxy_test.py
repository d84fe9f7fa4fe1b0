"""Three servers behind HAProxy, under load: each fails in another way, every request is answered.

Usage: haproxy_test.py PROGRAM MODELS. One server is killed, one hangs, one loses its network, one
is replaced. Every request must get its right answer: each could be sent to another replica. HAProxy
2.6 does not send a request again whose server resets the connection (a kill does). It then closes
the client's connection without an answer, and the client sends the request again, as HTTP clients
do.

The proxy and each server are hosts of their own, joined by a bridge: network namespaces, which need
root. Elsewhere the test says so, and runs on loopback, where no network can fail. Without haproxy
it says why, and exits with 77.
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

SKIPPED = 77
BODY = json.dumps({"inputs": [
    {"name": name, "datatype": "INT32", "shape": [1, 16], "data": list(range(16))}
    for name in ("INPUT0", "INPUT1")]})
SUMS = [2 * i for i in range(16)]


PROXY, REPLICAS = "proxy", ("replica1", "replica2", "replica3")


class Loopback:
    """All on one host."""

    def __init__(self):
        print("on loopback: network namespaces need root, ip and unshare")

    def address(self, _):
        return "127.0.0.1"

    def free_port(self):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def start(self, _, command, **options):
        return subprocess.Popen(command, **options)


class Network:
    """A host for each, and this process at the bridge that joins them, all private."""
    ADDRESSES = {PROXY: "10.0.0.2", "replica1": "10.0.0.11", "replica2": "10.0.0.12",
                 "replica3": "10.0.0.13"}

    def __init__(self):
        self.port = 8000
        ip("link set lo up")
        ip("link add bridge type bridge")
        ip("addr add 10.0.0.1/24 dev bridge")
        ip("link set bridge up")
        for host, address in self.ADDRESSES.items():
            ip(f"netns add {host}")
            ip(f"link add {host} type veth peer name eth0 netns {host}")
            ip(f"link set {host} master bridge up")
            ip(f"-n {host} addr add {address}/24 dev eth0")
            ip(f"-n {host} link set eth0 up")
            ip(f"-n {host} link set lo up")
        print("in network namespaces: the proxy and each server are hosts of their own")

    def address(self, host):
        return self.ADDRESSES[host]

    def free_port(self):
        self.port += 1
        return self.port

    def start(self, host, command, **options):
        return subprocess.Popen(["ip", "netns", "exec", host, *command], **options)

    def plug(self, host, state):
        ip(f"link set {host} {state}")


def ip(arguments):
    subprocess.run(["ip", *arguments.split()], check=True)


def isolate():
    """Goes on in a network of its own, where it may; all of that ends with this process."""
    if os.environ.get("POLYCHRON_ISOLATED"):
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)  # what ip notes there
        return Network()
    alone = ["unshare", "--net", "--mount", "--fork", "--kill-child"]
    if os.geteuid() == 0 and all(map(shutil.which, ("ip", "unshare"))) and \
            subprocess.run([*alone, "true"], capture_output=True).returncode == 0:
        os.execvpe("unshare", [*alone, sys.executable, *sys.argv],
                   os.environ | {"POLYCHRON_ISOLATED": "1"})
    return Loopback()


def start(network, host, program, models, port):
    command = [program, models, "--http", port, "--address", network.address(host)]
    server = network.start(host, command, stderr=subprocess.PIPE, text=True)
    while not re.search("serving http", line := server.stderr.readline()):
        assert line, "the server has ended"
    threading.Thread(target=server.stderr.read, daemon=True).start()
    return server


def wait_up(state, proxy, wanted=3):
    """Until HAProxy sends requests to that many replicas."""
    up = 0
    while up != wanted:
        assert proxy.poll() is None, "haproxy has ended"
        try:
            with urllib.request.urlopen(f"http://{state}/;csv") as page:
                lines = page.read().decode().splitlines()
            # Before its first check a replica counts as up.
            up = sum(all(each in line for each in (",replica", ",UP,", ",L7OK,"))
                     for line in lines)
        except OSError:
            pass


class Load:
    """Clients that ask again and again, each on a connection of its own."""

    def __init__(self, address, clients):
        self.address, self.stop = address, False
        self.right = self.again = 0
        self.wrong = []
        self.changed = threading.Condition()
        self.threads = [threading.Thread(target=self.ask) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        connection = http.client.HTTPConnection(self.address)
        tries = 0
        while not self.stop:
            tries += 1
            try:
                connection.request("POST", "/v2/models/simple/infer", BODY)
                answer = connection.getresponse()
                text = answer.read()
                right = answer.status == 200 and json.loads(text)["outputs"][0]["data"] == SUMS
                note = f"{answer.status} {text[:200]}"
            except (OSError, http.client.HTTPException) as error:
                right, note = False, repr(error)
                connection.close()
                if isinstance(error, ConnectionError) and tries == 1:
                    self.again += 1
                    continue
            tries = 0
            with self.changed:
                self.right += right
                if not right:
                    self.wrong.append(note)
                self.changed.notify_all()

    def more(self, count):
        """Waits for that many more answers."""
        with self.changed:
            wanted = self.right + count
            self.changed.wait_for(lambda: self.right >= wanted or len(self.wrong) >= 100)

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join()


def fail_each(network, servers, renew, up, load):
    """Each server fails in another way; after each of them come 500 more answers."""
    load.more(500)
    servers[0].kill()  # without a word
    load.more(500)
    servers[1].send_signal(signal.SIGSTOP)  # connections stay, nothing moves
    load.more(500)
    servers[1].send_signal(signal.SIGCONT)
    renew(0)  # no trace of its end is in the way
    up(3)
    if isinstance(network, Network):
        network.plug(REPLICAS[2], "down")  # packets vanish without a word
        load.more(500)
        up(2)
        load.more(500)
        network.plug(REPLICAS[2], "up")
        up(3)
    servers[2].terminate()  # drains
    load.more(500)
    assert servers[2].wait() == 0
    renew(2)
    up(3)
    load.more(500)


def main():
    program, models = sys.argv[1:]
    if not shutil.which("haproxy"):
        print("SKIPPED: haproxy is not installed")
        sys.exit(SKIPPED)
    network = isolate()
    at = [f"{network.address(host)}:{network.free_port()}" for host in (*REPLICAS, PROXY, PROXY)]
    names = {f"POLYCHRON_REPLICA{i + 1}": at[i] for i in range(3)}
    names |= {"POLYCHRON_BIND": at[3], "POLYCHRON_STATE": at[4], "POLYCHRON_TIMEOUT": "2s"}
    servers, proxy, load = [None] * 3, None, None

    def renew(i):
        if servers[i]:
            servers[i].wait()
        servers[i] = start(network, REPLICAS[i], program, models, at[i].split(":")[1])

    try:
        for i in range(3):
            renew(i)
        config = str(pathlib.Path(__file__).parent / "haproxy.cfg")
        proxy = network.start(PROXY, ["haproxy", "-db", "-q", "-f", config], env=os.environ | names,
                              stdout=subprocess.DEVNULL)
        wait_up(at[4], proxy)
        load = Load(at[3], 8)
        fail_each(network, servers, renew, lambda count: wait_up(at[4], proxy, count), load)
    finally:
        if load:
            load.end()
        for process in filter(None, (proxy, *servers)):
            process.kill()
            process.wait()
    print(f"{load.right} right answers, {len(load.wrong)} others, {load.again} sent again")
    for note in load.wrong[:10]:
        print(note)
    sys.exit(1 if load.wrong else 0)


main()
