"""ONNX models in Ray Serve: a base class for deployments. Needs `pip install polychron[ray]`.

>>> @serve.deployment(max_ongoing_requests=16)
... class Net(polychron.serve.Model):
...     async def __call__(self, request):
...         x = numpy.frombuffer(await request.body(), numpy.float32).reshape(-1, 3)
...         return Response((await self.infer({"x": x}))["z"].tobytes())
>>> serve.run(Net.bind("model.onnx"))
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ray import serve
from ray.serve import metrics
from ray.serve.exceptions import BackPressureError

from ._errors import ContextLostError, QuotaExceededError, TimeoutError
from ._session import Session
from ._webnn import ml


class Model:
    """A model and its context, in a replica of Ray Serve.

    Ray's loop runs `infer()`; the kernels run on the context's own threads. A cancelled request,
    and so one whose client left or whose time is up, skips its run if that has not started.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | bytes,
        *,
        threads: int = 1,
        lanes: int = 1,
        bindings: Mapping[str, int | Sequence[int]] | None = None,
        most_shapes: int = 16,
        max_in_flight: int | None = None,
        retry_after: float | None = 1.0,
    ) -> None:
        """Loads the model. `threads`, `lanes`, `bindings` and `most_shapes` are Session's.

        At most `max_in_flight` runs are in flight, by default the deployment's
        `max_ongoing_requests`. That counts cancelled runs that had started, which Ray no longer
        counts. Beyond it `infer()` raises BackPressureError, and an HTTP client gets status 503
        with the header Retry-After of `retry_after` seconds.
        """
        replica = serve.get_replica_context()
        if max_in_flight is None:
            max_in_flight = int(replica._deployment_config.max_ongoing_requests)
        self._most = max_in_flight
        self._retry_after = retry_after
        self.context = ml.create_context(
            label=replica.deployment, threads=threads, lanes=lanes, max_in_flight=max_in_flight
        ).result()
        self.session = Session(
            model,
            context=self.context,
            bindings=bindings,
            label=replica.deployment,
            most_shapes=most_shapes,
        )
        self._lost = self.context.lost
        self._runs = metrics.Counter(
            "polychron_runs", description="Runs by their outcome.", tag_keys=("outcome",)
        )
        self._seconds = metrics.Histogram(
            "polychron_run_seconds",
            description="Time of runs that gave outputs, with their wait.",
            boundaries=[0.0005 * 2**i for i in range(16)],
        )
        self._in_flight = metrics.Gauge(
            "polychron_in_flight", description="Operations in flight, as of the last health check."
        )
        self._bytes = metrics.Gauge(
            "polychron_bytes", description="Bytes of the context, as of the last health check."
        )

    async def infer(
        self,
        inputs: Mapping[str, object],
        *,
        outputs: Sequence[str] = (),
        label: str = "",
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Runs the model: numpy arrays by output name. Reads inputs in place, as Ray gives them.

        `outputs`, `label` and `timeout` are those of Session.run(). Leave the inputs as they are
        until it returns.
        """
        begun = time.perf_counter()
        outcome = "failed"
        try:
            reply = self.session.run_async(
                inputs, outputs=outputs, label=label, timeout=timeout, copy=False
            )
            result = await reply
            outcome = "done"
            self._seconds.observe(time.perf_counter() - begun)
            return result
        except QuotaExceededError as error:
            outcome = "refused"
            raise BackPressureError(
                self._most, self._most, retry_after_s=self._retry_after
            ) from error
        except TimeoutError:
            outcome = "late"
            raise
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            self._runs.inc(tags={"outcome": outcome})

    def check_health(self) -> None:
        """For Ray, which replaces the replica if this raises: once the context is lost."""
        if self._lost.done():
            raise ContextLostError(": ".join(self._lost.result()))
        stats = self.context.stats()
        self._in_flight.set(stats["in_flight"])
        self._bytes.set(stats["bytes"])


def timeout_of(request: Any) -> float | None:
    """The seconds that an HTTP client gives in Ray's header x-request-timeout-seconds, if any.

    Ray cancels the request after them. As infer()'s `timeout` they also hold on the device, which
    hears of no cancellation while the replica's loop is busy.
    """
    try:
        seconds = float(request.headers["x-request-timeout-seconds"])
    except (KeyError, ValueError):
        return None
    return seconds if seconds > 0 else None
