"""Polychron's server beside two peers of the same protocol, in turn, with the same requests.

The peers are servers around ONNX Runtime as people write them: onnxruntime-node behind Node's http,
and Python's onnxruntime behind FastAPI and uvicorn. compare.py --help lists the options. It runs
from the repository's top, where node_modules is. MODELS has what models.py wrote. Needs h2load.
"""
import argparse
import asyncio
import itertools
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import load
import plot

FIXED = ("mlp", "minilm", "mobilenet_v2")
MIXED = "minilm_any"
CLIENTS = (1, 2, 4, 8)
OFFERED = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5)  # times the best server's capacity


def say(*words):
    print(*words, file=sys.stderr, flush=True)


class Server:
    """A server on a free port; ends with the block."""

    def __init__(self, name, command):
        self.name = name
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.command = [str(self.port) if word == "PORT" else str(word) for word in command]

    def __enter__(self):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)
        while not self.ready():
            if self.process.poll() is not None:
                self.log.seek(0)
                raise SystemExit(f"{self.name} has ended: {self.log.read().decode()[-2000:]}")
        return self

    def ready(self):
        try:
            url = f"http://127.0.0.1:{self.port}/v2/health/ready"
            return urllib.request.urlopen(url).status == 200
        except OSError:
            return False

    def rest(self):
        """Waits until the server has no work left. Some go on with requests that were given up."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat")
        used = None
        while True:
            before, used = used, sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13]))
            if before is not None and used - before < 5:  # of 100 ticks
                return
            time.sleep(1)

    def memory(self, what):
        """MiB: what is VmRSS (now) or VmHWM (the peak)."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{what}:\s+(\d+)", status)[1]) / 1024

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()


def servers_of(options, models):
    cores = len(os.sched_getaffinity(0))
    here = pathlib.Path(__file__).parent
    # ONNX Runtime spreads each run over the cores, as it does if nobody says otherwise.
    python = [sys.executable, here / "peer.py", models, "PORT", cores]
    return [Server("polychron", [options.program, models, "--http", "PORT", "--lanes", cores]),
            Server("onnxruntime-node", ["node", here / "peer.mjs", models, "PORT", cores]),
            Server("onnxruntime-python", python)]


def requests_of(seed, timeout_ms=None, mostly_short=False):
    """Requests of MiniLM, each of a random length."""
    weights = [1 / length ** 2 if mostly_short else 1 for length in load.LENGTHS]
    chance, made = random.Random(seed), {}
    while True:
        length = chance.choices(load.LENGTHS, weights)[0]
        if length not in made:
            made[length] = load.request_of(MIXED, length, timeout_ms)
        yield made[length]


def measure(server, model, clients, options):
    if model != MIXED:
        return load.same_requests(server.port, model, clients, options.seconds)
    requests = requests_of(options.seed)
    return asyncio.run(load.closed_loop(server.port, clients, requests, options.seconds))


def warm_up(server):
    """Each length once: what a server builds for a shape is not part of its throughput."""
    every = [load.request_of(MIXED, length) for length in load.LENGTHS]
    result = asyncio.run(load.closed_loop(server.port, 2, iter(every)))
    if result.failed:
        raise SystemExit(f"{server.name}: {result.failed} of {len(every)} lengths failed")


def throughput(servers, options):
    """{model: {server: {clients: Measured}}}"""
    rows = {}
    for model in (*FIXED, MIXED):
        rows[model] = {server.name: {} for server in servers}
        for clients in CLIENTS:
            for server in servers:
                result = measure(server, model, clients, options)
                rows[model][server.name][clients] = result
                say(f"{model}, {clients} clients, {server.name}: {result.rate:.1f} requests/s, "
                    f"median {result.median:.2f} ms, p99 {result.late:.2f} ms, "
                    f"{result.failed} failed")
    return rows


def overload(servers, rows, options):
    """{server: [Offered]}: all get the same loads, multiples of what the best one answers."""
    capacity = max(each.rate for row in rows[MIXED].values() for each in row.values())
    results = {server.name: [] for server in servers}
    for factor, server in itertools.product(options.offered, servers):
        result = asyncio.run(load.open_loop(
            server.port, factor * capacity, requests_of(options.seed, options.deadline_ms),
            options.seconds, options.deadline_ms / 1000, options.seed))
        results[server.name].append(result)
        server.rest()
        say(f"offered {result.offered:.0f}/s to {server.name}: {result.good:.1f} good, "
            f"{result.refused:.1f} refused, {result.late:.1f} late, {result.failed:.1f} failed, "
            f"p99 {result.p99:.0f} ms; sent {result.behind:.1f} ms late")
    return results


def memory(server, options):
    """MiB before, after and at the peak of requests of varying shapes."""
    with server:
        before = server.memory("VmRSS")
        requests = itertools.islice(requests_of(options.seed, mostly_short=True), options.requests)
        result = asyncio.run(load.closed_loop(server.port, 4, requests))
        after, peak = server.memory("VmRSS"), server.memory("VmHWM")
    say(f"{options.requests} requests of varying shapes, {server.name}: {before:.0f} MiB before, "
        f"{after:.0f} after, {peak:.0f} at the peak, {result.rate:.1f} requests/s, "
        f"{result.failed} failed")
    return before, after, peak


def print_throughput(rows):
    print(f"{'model':<14}{'server':<20}{'alone ms':>9}{'req/s':>9}{'clients':>9}{'p99 ms':>9}"
          f"{'failed':>8}")
    for model, by_server in rows.items():
        for name, by_clients in by_server.items():
            alone = by_clients[1].median
            prompt = {clients: each for clients, each in by_clients.items()
                      if each.late <= 3 * alone}
            failed = sum(each.failed for each in by_clients.values())
            if not prompt:
                print(f"{model:<14}{name:<20}{alone:>9.2f}{'none':>9}{failed:>26}")
                continue
            clients, best = max(prompt.items(), key=lambda each: each[1].rate)
            print(f"{model:<14}{name:<20}{alone:>9.2f}{best.rate:>9.1f}{clients:>9}"
                  f"{best.late:>9.2f}{failed:>8}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=4, help="of each measurement (4)")
    parser.add_argument("--requests", type=int, default=20000,
                        help="of varying shapes, for memory (20000)")
    parser.add_argument("--deadline-ms", type=int, default=250,
                        help="of requests under overload (250)")
    parser.add_argument("--offered", type=float, nargs="+", default=OFFERED,
                        help="times the capacity")
    parser.add_argument("--seed", type=int, default=1, help="of lengths and arrivals (1)")
    parser.add_argument("--plot", type=pathlib.Path, default="overload.svg",
                        help="a name of .svg or .png (overload.svg)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the servers end too
    servers = servers_of(options, options.models)
    with servers[0], servers[1], servers[2]:
        for server in servers:
            warm_up(server)
        rows = throughput(servers, options)
        results = overload(servers, rows, options)
    kept = {server.name: memory(server, options) for server in servers}
    print("\nThe best throughput whose p99 is below 3 times a request alone:\n")
    print_throughput(rows)
    print(f"\nMiB before {options.requests} requests of varying shapes, after, and at the peak:\n")
    for name, numbers in kept.items():
        print(f"{name:<20}" + "".join(f"{each:>8.0f}" for each in numbers))
    plot.draw(results, options.deadline_ms, options.plot)
    print(f"\nGoodput under overload: {options.plot}")


if __name__ == "__main__":
    main()
