"""Three servers behind HAProxy, under load: one is killed, one hangs, one is replaced.

Usage: haproxy_test.py PROGRAM MODELS. Every request must get its right answer: each could be sent to
another replica. HAProxy 2.6 does not send a request again whose server resets the connection (a kill does).
It then closes the client's connection without an answer, and the client sends the request again, as HTTP
clients do. Exits with 77, and says why, without haproxy.
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


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(program, models, port):
    server = subprocess.Popen([program, models, "--http", str(port)], stderr=subprocess.PIPE,
                              text=True)
    while not re.search("serving http", server.stderr.readline()):
        pass
    threading.Thread(target=server.stderr.read, daemon=True).start()
    return server


def wait_up(state_port, proxy, wanted=3):
    """Until HAProxy sends requests to that many replicas."""
    up = 0
    while up < wanted:
        assert proxy.poll() is None, "haproxy has ended"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{state_port}/;csv") as state:
                lines = state.read().decode().splitlines()
            # Before its first check a replica counts as up.
            up = sum(all(each in line for each in (",replica", ",UP,", ",L7OK,"))
                     for line in lines)
        except OSError:
            pass


class Load:
    """Clients that ask again and again, each on a connection of its own."""

    def __init__(self, port, clients):
        self.port, self.stop = port, False
        self.right = self.again = 0
        self.wrong = []
        self.changed = threading.Condition()
        self.threads = [threading.Thread(target=self.ask) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
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


def main():
    program, models = sys.argv[1:]
    if not shutil.which("haproxy"):
        print("SKIPPED: haproxy is not installed")
        sys.exit(SKIPPED)
    ports = [free_port() for _ in range(5)]
    servers = [start(program, models, port) for port in ports[:3]]
    names = {f"POLYCHRON_REPLICA{i + 1}": f"127.0.0.1:{port}" for i, port in enumerate(ports[:3])}
    names |= {"POLYCHRON_BIND": f"127.0.0.1:{ports[3]}", "POLYCHRON_TIMEOUT": "2s",
              "POLYCHRON_STATE": f"127.0.0.1:{ports[4]}"}
    config = pathlib.Path(__file__).parent / "haproxy.cfg"
    proxy = subprocess.Popen(["haproxy", "-db", "-q", "-f", config], env=os.environ | names,
                             stdout=subprocess.DEVNULL)
    load = None
    try:
        wait_up(ports[4], proxy)
        load = Load(ports[3], 8)
        load.more(500)
        servers[0].kill()  # without a word
        load.more(500)
        servers[1].send_signal(signal.SIGSTOP)  # connections stay, nothing moves
        load.more(500)
        servers[1].send_signal(signal.SIGCONT)
        servers[0].wait()
        servers[0] = start(program, models, ports[0])  # no trace of its end is in the way
        wait_up(ports[4], proxy)
        load.more(500)
        servers[2].terminate()  # drains
        assert servers[2].wait() == 0
        servers[2] = start(program, models, ports[2])
        wait_up(ports[4], proxy)
        load.more(500)
    finally:
        if load:
            load.end()
        proxy.terminate()
        proxy.wait()
        for server in servers:
            server.kill()
            server.wait()
    print(f"{load.right} right answers, {len(load.wrong)} others, {load.again} sent again by clients")
    for note in load.wrong[:10]:
        print(note)
    sys.exit(1 if load.wrong else 0)


main()
