"""Load with faults, for an hour: each request gets its answer, none is wrong, memory stays flat.

Usage: soak.py PROGRAM MODELS [--minutes 60] [--rate 40] [--seed N]. Needs Python alone; with
tritonclient it asks by gRPC too. MODELS is the folder models beside this file. Clients ask rightly,
wrongly, slowly and in part; they vanish, hang and are stopped. Meanwhile models are replaced,
broken, removed and unloaded. Each minute a line tells the counts and the server's memory. The end
is a table. The exit code is 1 if anything was not right.
"""
import argparse
import asyncio
import collections
import pathlib
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import soak_clients
import soak_faults

# Small limits, which are met often.
OPTIONS = ["--http", "0", "--grpc", "0", "--repository", "--poll-ms", "50", "--in-flight", "8",
           "--shapes", "4", "--connections", "128", "--requests-per-connection", "50",
           "--body-bytes", "1000000", "--header-timeout", "2", "--idle-timeout", "5",
           "--transfer-timeout", "2", "--memory-limit", "200000000"]


class Tally:
    """What happened, by kind of request. `bad` has what must not happen."""

    def __init__(self):
        self.statuses = collections.Counter()
        self.acts = collections.Counter()
        self.bad = collections.Counter()
        self.notes = []

    def answered(self, kind, status):
        self.statuses[kind, status] += 1

    def wrong(self, what, kind, note):
        self.bad[what] += 1
        if len(self.notes) < 50:
            self.notes.append(f"{what}: {kind}: {note}")
            print(f"{what}: {kind}: {note}", file=sys.stderr, flush=True)

    def requests(self):
        return sum(self.statuses.values())


class Server:
    """The program that is tried, with models of its own that faults may change."""

    def __init__(self, program, models, folder):
        self.folder = pathlib.Path(folder)
        for file in pathlib.Path(models).glob("*.onnx"):
            shutil.copy(file, self.folder)
        self.process = subprocess.Popen([program, folder, *OPTIONS], stderr=subprocess.PIPE,
                                        text=True)
        ports = {}
        for line in self.process.stderr:
            if found := re.search(r"serving (http|gRPC)\D+127.0.0.1:(\d+)", line):
                ports[found[1]] = int(found[2])
            if len(ports) == 2:
                break
        else:
            raise SystemExit("the server ended")
        self.port, self.grpc = ports["http"], ports["gRPC"]
        self.log = collections.deque(maxlen=20)
        while not self.ready():
            time.sleep(0.1)
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def ready(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/health/ready").close()
            return True
        except urllib.error.HTTPError:
            return False

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    def end(self):
        """The exit code after SIGTERM."""
        self.process.terminate()
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()


async def go(client, tally, chance, rate, stop):
    """One client that acts again and again, until `stop`."""
    while not stop.is_set():
        await client(chance)
        tally.acts[type(client).__name__] += 1
        try:
            await asyncio.wait_for(stop.wait(), chance.expovariate(rate))
        except TimeoutError:
            pass


async def watch(server, tally, minutes, stop):
    """A line each minute; the memory of each."""
    memory, begin = [], time.monotonic()
    for minute in range(1, minutes + 1):
        while time.monotonic() < begin + 60 * minute and server.process.poll() is None:
            await asyncio.sleep(1)
        if server.process.poll() is not None:
            tally.wrong("dead", "server", f"exit code {server.process.returncode}")
            break
        memory.append(server.memory())
        print(f"minute {minute}: {tally.requests()} answers, {sum(tally.bad.values())} bad, "
              f"{memory[-1]:.0f} MiB", flush=True)
    stop.set()
    return memory


async def soak(server, tally, options):
    stop = asyncio.Event()
    every = [client for kinds in (soak_clients.KINDS * 2, soak_faults.KINDS)
             for client in [kind(server, tally) for kind in kinds]]
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(watch(server, tally, options.minutes, stop))
        for number, client in enumerate(every):
            chance = random.Random(f"{options.seed} {number}")
            tasks.create_task(go(client, tally, chance, options.rate / len(every), stop))
    await soak_clients.at_rest(server, tally)
    return watching.result()


def report(tally, memory):
    kinds = sorted({kind for kind, _ in tally.statuses})
    print("\nwhat clients did: " + ", ".join(f"{kind} {n}" for kind, n in tally.acts.items()))
    print("answers by kind of request:")
    for kind in kinds:
        counts = sorted((status, n) for (each, status), n in tally.statuses.items() if each == kind)
        print(f"  {kind:<12}" + ", ".join(f"{status}: {n}" for status, n in counts))
    third = max(len(memory) // 3, 1)
    parts = memory[third:2 * third] or memory, memory[-third:]
    early, late = (sorted(part)[len(part) // 2] for part in parts)
    print(f"memory: {early:.1f} MiB in the second third, {late:.1f} in the last, "
          f"{max(memory):.1f} at most")
    if len(memory) >= 6 and late > 1.1 * early + 5:
        tally.wrong("growth", "memory", f"{early:.1f} to {late:.1f} MiB")
    for note in tally.notes:
        print(note)
    print(f"{tally.requests()} answers; without an answer: {tally.bad['unanswered']}, "
          f"wrong: {tally.bad['wrong']}, other: "
          f"{sum(tally.bad.values()) - tally.bad['unanswered'] - tally.bad['wrong']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("models")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=float, default=40, help="actions a second (40)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.program, options.models, folder)
        try:
            memory = asyncio.run(soak(server, tally, options))
        finally:
            code = server.end()
        if code != 0:
            tally.wrong("dead", "server", f"exit code {code} after SIGTERM: {''.join(server.log)}")
    report(tally, memory)
    sys.exit(1 if tally.bad else 0)


main()
