"""Polychron beside its C++, beside onnxruntime, and beside pywebnn if that is installed: turn by turn.

C++ is the command `polychron bench`, on the same library. Needs onnx and onnxruntime.
Usage: bench.py [SECONDS of each turn [calls|loop|threads|import...]]
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

import polychron

MODELS = Path(__file__).parents[2] / "tests/bench/models"
Inputs = dict[str, Any]
Call = Callable[[], object]


def model(folder: str, name: str) -> tuple[str, Inputs]:
    """The path of a model that generate.py writes, and inputs."""
    subprocess.run([sys.executable, MODELS / "generate.py", folder, name], check=True)
    path = f"{folder}/{name}.onnx"
    random = np.random.default_rng(1)
    return path, {
        each.name: random.standard_normal(each.shape).astype(np.float32)
        if each.type == "tensor(float)"
        else np.ones(each.shape, np.int64)
        for each in onnxruntime.InferenceSession(path).get_inputs()
    }


def peer(path: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options)


class Pair:
    """One model in both libraries, one thread for each run, `lanes` runs at a time in Polychron."""

    def __init__(self, name: str, lanes: int = 1) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.lanes = lanes
        self.path, self.inputs = model(self.folder.name, name)
        self.peer = peer(self.path)
        self.own = polychron.Session(self.path, lanes=lanes, threads=1)
        expected = self.peer.run(None, self.inputs)[0]
        [got] = self.own.run(self.inputs).values()
        assert np.allclose(expected, got, rtol=1e-2, atol=1e-3)

    def native(self, seconds: float, clients: int = 1) -> dict[str, float]:
        """What the command measures: two thirds of its time latency, then throughput."""
        command = [sys.executable, "-m", "polychron", "bench", self.path, "--json"]
        options = [f"--seconds={seconds}", f"--lanes={self.lanes}", f"--clients={clients}"]
        found: dict[str, float] = json.loads(subprocess.check_output([*command, *options]))
        return found


def median(call: Call, seconds: float) -> float:
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


def pywebnn_add() -> Call | None:
    """pywebnn has no ONNX models: its row is `add`, built by hand."""
    try:
        import webnn  # type: ignore[import-not-found]
    except ImportError:
        return None
    context = webnn.ML().create_context(device_type="cpu")
    builder = context.create_graph_builder()
    sum_ = builder.add(builder.input("a", [4], "float32"), builder.input("b", [4], "float32"))
    graph, x = builder.build({"c": sum_}), np.ones(4, np.float32)
    return lambda: context.compute(graph, {"a": x, "b": x})


def calls(seconds: float) -> None:
    for name in ("add", "mlp", "mobilenet_v2", "minilm"):
        pair = Pair(name)
        rows: dict[str, Call] = {
            "run": lambda: pair.own.run(pair.inputs),
            "run_async": lambda: pair.own.run_async(pair.inputs).result(),
            "onnxruntime": lambda: pair.peer.run(None, pair.inputs),
        }
        if name == "add" and (other := pywebnn_add()):
            rows["pywebnn"] = other
        for _ in range(2):
            cpp = pair.native(seconds * 1.5)["median_ms"] * 1e3
            figures = (f"{row} {median(call, seconds):.1f} us" for row, call in rows.items())
            print(f"{name}: C++ {cpp:.1f} us, {', '.join(figures)}", flush=True)


def _queued() -> float:
    """The milliseconds that this thread was ready to run, and the system gave it no processor."""
    with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as file:
        return int(file.read().split()[1]) / 1e6


async def _tasks(call: Callable[[], Awaitable[object]], seconds: float) -> str:
    """64 tasks on one loop; beside them one that notes how late the loop wakes it."""
    runs, pauses, own, end = 0, [], [], time.perf_counter() + seconds

    async def task() -> None:
        nonlocal runs
        while time.perf_counter() < end:
            await call()
            runs += 1

    async def watch() -> None:
        while (begun := time.perf_counter()) < end:
            queued = _queued()
            await asyncio.sleep(0.001)
            pauses.append((time.perf_counter() - begun - 0.001) * 1e3)
            own.append(pauses[-1] - (_queued() - queued))

    await asyncio.gather(watch(), *(task() for _ in range(64)))
    return (
        f"{runs / seconds:.0f} runs/s, the loop is late by (median, 99th percentile, at most)"
        f" {_spread(pauses)} ms, without its waits for a processor {_spread(own)} ms"
    )


def _spread(times: list[float]) -> str:
    times.sort()
    return ", ".join(f"{times[i]:.2f}" for i in (len(times) // 2, len(times) * 99 // 100, -1))


def loop(seconds: float) -> None:
    pair = Pair("mobilenet_v2", lanes=2)

    async def own() -> object:
        return await pair.own.run_async(pair.inputs, copy=False)

    async def peer() -> object:
        running = asyncio.get_running_loop()
        return await running.run_in_executor(None, pair.peer.run, None, pair.inputs)

    for _ in range(2):
        cpp = pair.native(seconds * 3, clients=8)["throughput_per_second"]
        print(f"64 runs in flight: C++ {cpp:.0f} runs/s", flush=True)
        print(f"64 tasks: polychron {asyncio.run(_tasks(own, seconds))}", flush=True)
        print(f"64 tasks: onnxruntime in an executor {asyncio.run(_tasks(peer, seconds))}", flush=True)


def threads(seconds: float) -> None:
    for name in ("mlp", "mobilenet_v2"):
        pair = Pair(name, lanes=2)
        for row, call in {
            "polychron": lambda: pair.own.run(pair.inputs),
            "onnxruntime": lambda: pair.peer.run(None, pair.inputs),
        }.items():
            counts = [0] * 8
            end = time.perf_counter() + seconds

            def work(number: int, call: Call = call, counts: list[int] = counts) -> None:
                while time.perf_counter() < end:
                    call()
                    counts[number] += 1

            all_ = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for each in all_:
                each.start()
            for each in all_:
                each.join()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(f"8 threads, {name}: {row} {sum(counts) / seconds:.0f} runs/s, peak {peak} MiB", flush=True)


def imports(seconds: float) -> None:
    for module in ("polychron", "numpy", "onnxruntime"):
        code = f"import time; a = time.perf_counter(); import {module}; print(time.perf_counter() - a)"
        run = lambda: float(subprocess.check_output([sys.executable, "-c", code]))
        print(f"import {module}: {statistics.median(run() for _ in range(9)):.3f} s", flush=True)


if __name__ == "__main__":
    parts = {"calls": calls, "loop": loop, "threads": threads, "import": imports}
    for part in sys.argv[2:] or parts:
        parts[part](float(sys.argv[1]) if len(sys.argv) > 1 else 2)
