"""Requests a second over HTTP: Ray Serve with Polychron, and with onnxruntime in the same deployment, turn by turn.

Needs ray[serve], onnx, onnxruntime. Usage: bench_serve.py [SECONDS of each turn]
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import aiohttp
import numpy as np
import ray
from bench import model, peer
from ray import serve
from starlette.requests import Request
from starlette.responses import Response

from polychron.serve import Model

CLIENTS = 16


def arrays_of(body: bytes, shapes: dict) -> dict:
    arrays, begin = {}, 0
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(body, np.float32, count, begin).reshape(shape)
        begin += 4 * count
    return arrays


@serve.deployment(max_ongoing_requests=64)
class Polychron(Model):
    def __init__(self, path: str, shapes: dict) -> None:
        super().__init__(path)
        self.shapes = shapes

    async def __call__(self, request: Request) -> Response:
        outputs = await self.infer(arrays_of(await request.body(), self.shapes))
        return Response(next(iter(outputs.values())).tobytes())


@serve.deployment(max_ongoing_requests=64)
class Onnxruntime:
    def __init__(self, path: str, shapes: dict) -> None:
        self.session = peer(path)
        self.shapes = shapes

    async def __call__(self, request: Request) -> Response:
        inputs = arrays_of(await request.body(), self.shapes)
        outputs = await asyncio.to_thread(self.session.run, None, inputs)
        return Response(outputs[0].tobytes())


async def load(url: str, body: bytes, seconds: float) -> str:
    times: list[float] = []

    async def client(http: aiohttp.ClientSession) -> None:
        while time.perf_counter() < end:
            begun = time.perf_counter()
            async with http.post(url, data=body) as got:
                await got.read()
                assert got.status == 200, await got.text()
            times.append(time.perf_counter() - begun)

    async with aiohttp.ClientSession() as http:
        for turn in (0.5, seconds):
            times.clear()
            end = time.perf_counter() + turn
            await asyncio.gather(*(client(http) for _ in range(CLIENTS)))
    ordered = sorted(times)
    return (
        f"{len(times) / seconds:.0f} requests/s, median {ordered[len(times) // 2] * 1e3:.1f} ms,"
        f" p99 {ordered[len(times) * 99 // 100] * 1e3:.1f} ms"
    )


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", PYTHONPATH=str(Path(__file__).parent))
    with tempfile.TemporaryDirectory() as folder:
        made = {name: model(folder, name) for name in ("add", "mobilenet_v2")}
        ray.init(num_cpus=5, include_dashboard=False, log_to_driver=False)
        serve.start(http_options={"host": "127.0.0.1", "port": 8734})
        for name, (path, inputs) in made.items():
            shapes = {key: array.shape for key, array in inputs.items()}
            for kind in (Polychron, Onnxruntime):
                serve.run(kind.bind(path, shapes), name=f"{kind.name}-{name}", route_prefix=f"/{kind.name}/{name}")
        for name, (path, inputs) in made.items():
            body = b"".join(array.tobytes() for array in inputs.values())
            for _ in range(2):
                for kind in (Polychron, Onnxruntime):
                    url = f"http://127.0.0.1:8734/{kind.name}/{name}"
                    print(f"{name}: Ray Serve, {kind.name}: {asyncio.run(load(url, body, seconds))}", flush=True)
        serve.shutdown()
        ray.shutdown()


if __name__ == "__main__":
    main()
