"""Polychron's server beside a server around onnxruntime-node: the same requests, in turn.

Usage, from the repository's top (where node_modules is): compare.py PROGRAM MODELS_DIR [SECONDS]
MODELS_DIR has mlp.onnx, minilm.onnx and mobilenet_v2.onnx of scripts/bench.sh. Needs h2load. Prints requests
a second, the median and the 99th percentile, and each server's peak memory.
"""
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.request

ROWS = {
    "mlp": [("input", "FP32", [1, 784])],
    "minilm": [("hidden_states", "FP32", [1, 128, 384]), ("attention_mask", "INT64", [1, 128])],
    "mobilenet_v2": [("input", "FP32", [1, 3, 224, 224])],
}
CLIENTS = (1, 2, 8)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def body(inputs):
    """A request of the given inputs, and the length of its JSON."""
    described, blob = [], b""
    for name, kind, shape in inputs:
        count = 1
        for size in shape:
            count *= size
        data = struct.pack(f"<{count}f", *[0.5] * count) if kind == "FP32" else \
            struct.pack(f"<{count}q", *[1] * count)
        described.append({"name": name, "datatype": kind, "shape": shape,
                          "parameters": {"binary_data_size": len(data)}})
        blob += data
    text = json.dumps({"inputs": described, "parameters": {"binary_data_output": True}}).encode()
    return text + blob, len(text)


def peak_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def load(port, model, clients, seconds):
    """(requests a second, median ms, 99th percentile ms, failed)"""
    text, length = body(ROWS[model])
    with tempfile.NamedTemporaryFile() as data, tempfile.NamedTemporaryFile() as log:
        data.write(text)
        data.flush()
        out = subprocess.run(
            ["h2load", "--h1", "-D", str(seconds), "--warm-up-time", "1", "-c", str(clients), "-t", "1",
             "-d", data.name, "-H", f"inference-header-content-length: {length}", "--log-file", log.name,
             f"http://127.0.0.1:{port}/v2/models/{model}/infer"], capture_output=True, text=True).stdout
        lines = [line.split() for line in pathlib.Path(log.name).read_text().splitlines()]
    times = sorted(int(time) / 1000 for _, status, time in lines if status == "200")
    failed = sum(status != "200" for _, status, _ in lines)
    rate = float(re.search(r", ([\d.]+) req/s", out)[1])
    return rate, times[len(times) // 2], times[len(times) * 99 // 100], failed


def start(command, port):
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready").status == 200:
                return server
        except OSError:
            if server.poll() is not None:
                raise SystemExit(f"{command} has ended")


def main():
    program, models = sys.argv[1:3]
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    cores = len(os.sched_getaffinity(0))
    ports = [free_port(), free_port()]
    peer = pathlib.Path(__file__).with_name("peer.mjs")
    servers = {
        "polychron": (start([program, models, "--http", str(ports[0]), "--lanes", str(cores)], ports[0]),
                      ports[0]),
        "onnxruntime-node": (start(["node", peer, models, str(ports[1]), str(cores)], ports[1]), ports[1]),
    }
    print(f"{'model':<14}{'clients':>8}  {'server':<18}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'failed':>8}")
    try:
        for model in ROWS:
            for clients in CLIENTS:
                for name, (_, port) in servers.items():
                    rate, median, late, failed = load(port, model, clients, seconds)
                    print(f"{model:<14}{clients:>8}  {name:<18}{rate:>9.1f}{median:>9.2f}{late:>9.2f}"
                          f"{failed:>8}", flush=True)
        for name, (server, _) in servers.items():
            print(f"{name}: {peak_mib(server.pid):.0f} MiB at its peak")
    finally:
        for server, _ in servers.values():
            server.kill()
            server.wait()


main()
