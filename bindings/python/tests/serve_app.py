"""What test_serve.py deploys: replicas import it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import numpy as np
from ray import serve
from starlette.requests import Request
from starlette.responses import Response

from polychron.serve import Model, timeout_of


@serve.deployment(
    max_ongoing_requests=4,
    health_check_period_s=0.5,
    ray_actor_options={"num_cpus": 0, "resources": {"worker": 1}},
)
class Add(Model):
    """Adds a request's numbers to themselves. Notes the number of each request before its run."""

    def __init__(self, model: str, notes: str = "", version: int = 1, pause: float = 0, **options: Any) -> None:
        super().__init__(model, **options)
        self.version = version
        self.pause = pause
        self.notes = open(Path(notes) / str(os.getpid()), "ab", buffering=0) if notes else None

    async def __call__(self, request: Request) -> Response:
        if self.notes is not None:
            self.notes.write(request.headers["number"].encode() + b"\n")
        await asyncio.sleep(self.pause)
        x = np.frombuffer(await request.body(), np.float32).reshape(-1, 3)
        outputs = await self.infer({"x": x, "y": x}, timeout=timeout_of(request))
        return Response(outputs["z"].tobytes(), headers={"version": str(self.version)})

    async def add(self, x: Any) -> Any:
        return (await self.infer({"x": x, "y": x}))["z"]

    async def copied(self, x: Any) -> tuple[bool, int]:
        """Whether Ray lent `x`, and the bytes of inputs that one run copied."""
        from polychron import _native

        await self.infer({"x": x, "y": x})
        before = _native.copied_bytes()
        await self.infer({"x": x, "y": x})
        return not x.flags.owndata, _native.copied_bytes() - before

    async def lose(self) -> None:
        self.context.destroy()


@serve.deployment(
    max_ongoing_requests=200, ray_actor_options={"num_cpus": 0, "resources": {"worker": 1}}
)
class Slow(Model):
    """Counts what becomes of its requests."""

    def __init__(self, model: str, **options: Any) -> None:
        super().__init__(model, **options)
        self.x = np.zeros((512, 512), np.float32)
        self.outcomes = {"arrived": 0, "done": 0, "cancelled": 0}

    async def __call__(self, request: Request | None = None) -> str:
        self.outcomes["arrived"] += 1
        try:
            await self.infer({"x": self.x}, timeout=request and timeout_of(request))
        except asyncio.CancelledError:
            self.outcomes["cancelled"] += 1
            raise
        self.outcomes["done"] += 1
        return "done"

    async def counts(self) -> dict[str, int]:
        return {**self.context.stats(), **self.outcomes}
