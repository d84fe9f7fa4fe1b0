"""Requests of the benchmark, and clients that send them: in a closed loop and in an open one."""
import asyncio
import json
import pathlib
import random
import re
import subprocess
import tempfile
import time
from typing import NamedTuple

import numpy as np

LENGTHS = range(8, 257)  # of MiniLM's requests, tokens


class Measured(NamedTuple):
    """Times are milliseconds, rates requests a second."""
    rate: float
    median: float
    late: float  # the 99th percentile
    failed: int


def inputs_of(model, length):
    if model == "mlp":
        return {"input": np.full((1, 784), 0.5, np.float32)}
    if model == "mobilenet_v2":
        return {"input": np.full((1, 3, 224, 224), 0.5, np.float32)}
    return {"hidden_states": np.full((1, length, 384), 0.5, np.float32),
            "attention_mask": np.ones((1, length), np.int64)}


def body_of(model, length=128, timeout_ms=None):
    """A request's body, and the length of its JSON."""
    inputs = inputs_of(model, length)
    described = [{"name": name, "datatype": "FP32" if data.dtype == np.float32 else "INT64",
                  "shape": data.shape, "parameters": {"binary_data_size": data.nbytes}}
                 for name, data in inputs.items()]
    parameters = {"binary_data_output": True}
    if timeout_ms:
        parameters["timeout"] = timeout_ms * 1000
    text = json.dumps({"inputs": described, "parameters": parameters}).encode()
    return text + b"".join(data.tobytes() for data in inputs.values()), len(text)


def request_of(model, length=128, timeout_ms=None):
    body, json_length = body_of(model, length, timeout_ms)
    head = (f"POST /v2/models/{model}/infer HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Length: {len(body)}\r\n"
            f"Inference-Header-Content-Length: {json_length}\r\n\r\n")
    return head.encode() + body


def percentiles(seconds):
    if not seconds:
        return float("nan"), float("nan")
    seconds = sorted(seconds)
    return seconds[len(seconds) // 2] * 1000, seconds[len(seconds) * 99 // 100] * 1000


def same_requests(port, model, clients, seconds):
    """Clients that each ask again and again, by h2load."""
    body, length = body_of(model)
    with tempfile.NamedTemporaryFile() as data, tempfile.NamedTemporaryFile() as log:
        data.write(body)
        data.flush()
        out = subprocess.run(
            ["h2load", "--h1", "-D", f"{round(seconds * 1000)}ms", "--warm-up-time", "1",
             "-c", str(clients), "-t", "1", "-d", data.name, "--log-file", log.name,
             "-H", f"inference-header-content-length: {length}",
             f"http://127.0.0.1:{port}/v2/models/{model}/infer"],
            capture_output=True, text=True, check=True).stdout
        lines = [line.split() for line in pathlib.Path(log.name).read_text().splitlines()]
    times = [int(time) / 1e6 for _, status, time in lines if status == "200"]
    failed = sum(status != "200" for _, status, _ in lines)
    return Measured(float(re.search(r", ([\d.]+) req/s", out)[1]), *percentiles(times), failed)


class Pool:
    """Kept connections. A request that is given up closes its own."""

    def __init__(self, port):
        self.port, self.idle = port, []

    async def ask(self, request):
        """The status of the answer, which is read whole."""
        reader, writer = self.idle.pop() if self.idle else \
            await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(re.search(rb"(?i)\r\ncontent-length: (\d+)", head)[1]))
        except BaseException:
            writer.transport.abort()
            raise
        if re.search(rb"(?i)\r\nconnection: close", head):
            writer.close()
        else:
            self.idle.append((reader, writer))
        return int(head.split(b" ", 2)[1])

    def close(self):
        for _, writer in self.idle:
            writer.close()


async def closed_loop(port, clients, requests, seconds=None):
    """Clients that each ask again and again: for some time, or until the requests end."""
    pool, times, failed = Pool(port), [], 0
    begin = time.monotonic()

    async def client():
        nonlocal failed
        for request in requests:
            sent = time.monotonic()
            try:
                right = await pool.ask(request) == 200
            except (OSError, asyncio.IncompleteReadError):
                right = False
            failed += not right
            if right:
                times.append(time.monotonic() - sent)
            if seconds and time.monotonic() - begin > seconds:
                break

    await asyncio.gather(*(client() for _ in range(clients)))
    pool.close()
    return Measured(len(times) / (time.monotonic() - begin), *percentiles(times), failed)


class Offered(NamedTuple):
    offered: float  # requests a second, as all that follow
    good: float  # answered by 200 before the deadline
    refused: float  # told to come again: 429 or 503
    late: float  # given up at the deadline, or answered by 504
    failed: float
    p99: float  # of the good ones, ms
    behind: float  # how late requests were sent, ms in the mean: this machine is at its limit


async def open_loop(port, rate, requests, seconds, deadline, seed):
    """Requests arrive as in a Poisson process, whatever the server does, and are given up."""
    pool, times, delays = Pool(port), [], []
    counts = dict.fromkeys(("refused", "late", "failed"), 0)
    chance = random.Random(seed)

    async def client(request):
        sent = time.monotonic()
        try:
            async with asyncio.timeout(deadline):
                status = await pool.ask(request)
            if status == 200:
                return times.append(time.monotonic() - sent)
            kind = {429: "refused", 503: "refused", 504: "late"}.get(status, "failed")
        except TimeoutError:
            kind = "late"
        except (OSError, asyncio.IncompleteReadError):
            kind = "failed"
        counts[kind] += 1

    begin = due = time.monotonic()
    async with asyncio.TaskGroup() as tasks:
        while due < begin + seconds:
            await asyncio.sleep(due - time.monotonic())
            delays.append(time.monotonic() - due)
            tasks.create_task(client(next(requests)))
            due += chance.expovariate(rate)
    pool.close()
    return Offered(len(delays) / seconds, len(times) / seconds,
                   *(count / seconds for count in counts.values()), percentiles(times)[1],
                   1000 * sum(delays) / len(delays))
