"""polychron.serve on a real cluster: three raylets on this machine, of loopback addresses."""

from __future__ import annotations

import asyncio
import collections
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Models

pytest.importorskip("ray", reason="ray is not installed: test-python.sh gives it to one Python")

import aiohttp
import ray
from ray import serve
from ray.cluster_utils import Cluster
from ray.serve.exceptions import BackPressureError, RequestCancelledError

import polychron

ones = np.ones((1, 3), np.float32)
PORT = 8733


def _started() -> Any:
    options = {"include_dashboard": False, "object_store_memory": 128 << 20}
    made = Cluster()
    try:
        made.add_node(num_cpus=2, node_ip_address="127.0.0.2", **options)
        for last in (3, 4):
            made.add_node(
                num_cpus=1, resources={"worker": 2}, node_ip_address=f"127.0.0.{last}", **options
            )
    except Exception as error:  # a raylet gives its agents 15 seconds to start
        made.shutdown()
        pytest.skip(f"the cluster did not start, as the machine is too busy: {error}")
    return made


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """The head, where no replica is, and two machines with places for two."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # replicas import serve_app
    sys.path.insert(0, os.environ["PYTHONPATH"])
    made = _started()
    ray.init(address=made.address, _node_ip_address="127.0.0.2", log_to_driver=False)
    serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": PORT})
    yield made
    serve.shutdown()
    ray.shutdown()
    made.shutdown()


@pytest.fixture(autouse=True)
def clean(cluster: Any) -> Iterator[None]:
    yield
    for name in serve.status().applications:
        serve.delete(name)


async def until(true: Callable[[], Any], what: str) -> None:
    """Polls what Ray does on its own time."""
    for _ in range(600):
        if await true() if asyncio.iscoroutinefunction(true) else true():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"not within a minute: {what}")


@pytest.fixture
def tell(capsys: Any) -> Callable[[str], None]:
    """Prints counts, also of a test that passes."""

    def telling(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}", end="")

    return telling


class Clients:
    """Sends numbered requests, and notes each answer."""

    def __init__(self, route: str) -> None:
        self.url = f"http://127.0.0.1:{PORT}{route}"
        self.answers: dict[int, list[str]] = collections.defaultdict(list)
        self.versions: collections.Counter[str] = collections.Counter()
        self.next = 0
        self.ended = False

    async def one(self, http: aiohttp.ClientSession) -> str:
        self.next += 1
        number = self.next
        x = np.full((1, 3), number, np.float32)
        async with http.post(self.url, data=x.tobytes(), headers={"number": str(number)}) as got:
            body = await got.read()
            answer = str(got.status)
            if got.status == 200:
                assert (np.frombuffer(body, np.float32) == 2 * number).all()
                self.versions[got.headers["version"]] += 1
        self.answers[number].append(answer)
        return answer

    async def many(self, clients: int, during: Callable[[], Any]) -> None:
        """`clients` of them, each sending one request after the other, until `during()` ends."""

        async def client() -> None:
            while not self.ended:
                await self.one(http)

        async with aiohttp.ClientSession() as http:
            tasks = [asyncio.ensure_future(client()) for _ in range(clients)]
            try:
                await during()
            finally:
                self.ended = True
            await asyncio.gather(*tasks)

    def check(self, notes: Path, tell: Callable[[str], None]) -> collections.Counter[str]:
        """Each request has one answer, and an answered one was run once. Counts the answers."""
        lines = [line for each in notes.iterdir() for line in each.read_text().split()]
        runs = collections.Counter(map(int, lines))
        statuses = collections.Counter(
            each for answers in self.answers.values() for each in answers
        )
        tell(
            f"{self.next} requests, answers {dict(statuses)}, of versions {dict(self.versions)};"
            f" {len(lines)} runs, {sum(count > 1 for count in runs.values())} run twice"
        )
        assert all(len(self.answers[number]) == 1 for number in range(1, self.next + 1))
        assert all(runs[number] == 1 for number, [each] in self.answers.items() if each == "200")
        return statuses


def deploy(models: Models, name: str = "add", args: dict[str, Any] = {}, **options: Any) -> Any:
    from serve_app import Add

    app = Add.options(**options).bind(models.path("add"), **args)
    return serve.run(app, name=name, route_prefix=f"/{name}")


def running() -> int:
    [deployment] = serve.status().applications["add"].deployments.values()
    return deployment.replica_states.get("RUNNING", 0)


def test_an_array_goes_through(cluster: Any, models: Models) -> None:
    handle = deploy(models)
    assert handle.add.remote(ones).result().tolist() == [[2, 2, 2]]
    large = np.ones((100_000, 3), np.float32)
    lent, copied = handle.copied.remote(large).result()
    assert copied == 0
    lent, copied = handle.copied.remote(ray.put(large)).result()
    assert (lent, copied) == (True, 0)
    with pytest.raises(polychron.ArgumentError, match="input 'x': expected float"):
        handle.add.remote(ones.astype(np.float64)).result()


def test_a_full_context_answers_503(cluster: Any, models: Models, tell: Any) -> None:
    from serve_app import Slow

    app = Slow.bind(models.path("long"), max_in_flight=2, retry_after=7)
    handle = serve.run(app, name="slow", route_prefix="/slow")
    replies = [handle.remote() for _ in range(6)]  # two take the places
    outcomes: collections.Counter[str] = collections.Counter()

    async def more() -> None:
        async def full() -> bool:
            return bool((await handle.counts.remote())["in_flight"] == 2)

        await until(full, "a full context")
        async with aiohttp.ClientSession() as http:
            async with http.get(f"http://127.0.0.1:{PORT}/slow") as got:
                assert (got.status, got.headers["retry-after"]) == (503, "7")

    asyncio.run(more())
    for reply in replies:
        try:
            outcomes[reply.result()] += 1
        except BackPressureError as error:
            assert error.status_code == 503
            outcomes["back pressure"] += 1
    tell(f"{dict(outcomes)}, and 503 over HTTP")
    assert outcomes == {"done": 2, "back pressure": 4}


def test_cancelled_requests_do_not_run_on(cluster: Any, models: Models, tell: Any) -> None:
    from serve_app import Slow

    app = Slow.bind(models.path("long"))
    handle = serve.run(app, name="slow", route_prefix="/slow")
    each = 50

    async def counts() -> dict[str, int]:
        return await handle.counts.remote()

    async def main() -> None:
        first = handle.remote()  # the lane works on it for seconds
        replies = [handle.remote() for _ in range(each)]
        connections = []
        for _ in range(each):
            _, writer = await asyncio.open_connection("127.0.0.1", PORT)
            writer.write(b"GET /slow HTTP/1.1\r\nHost: here\r\n\r\n")
            connections.append(writer)

        async def arrived() -> bool:
            return (await counts())["arrived"] == 1 + 2 * each

        async def heard() -> bool:
            return (await counts())["cancelled"] == 2 * each

        async def idle() -> bool:
            return (await counts())["in_flight"] == 0

        await until(arrived, "all requests at the replica")
        for reply in replies:
            reply.cancel()
        for writer in connections:
            writer.close()
        await until(heard, "all cancellations at the replica")
        before = await counts()
        assert await first == "done"
        await until(idle, "the end of all runs")
        after = await counts()
        ran = after["completed"] - before["completed"]
        tell(
            f"{2 * each} cancelled, {before['cancelled']} heard of it; runs ended before:"
            f" {before['completed']}, after: {ran}, skipped: {after['not_run']}"
        )
        # Only the run that the lane had started when the last cancellation came.
        assert ran <= 1 and after["completed"] + after["not_run"] == 1 + 2 * each
        for reply in replies:
            with pytest.raises((RequestCancelledError, asyncio.CancelledError)):
                await reply

    asyncio.run(main())


def test_a_time_limit_skips_the_run(cluster: Any, models: Models) -> None:
    from serve_app import Slow

    handle = serve.run(Slow.bind(models.path("long")), name="slow", route_prefix="/slow")

    async def main() -> None:
        async def busy() -> bool:
            return bool((await handle.counts.remote())["arrived"] == 1)

        async def idle() -> bool:
            return bool((await handle.counts.remote())["in_flight"] == 0)

        first = handle.remote()  # the lane works on it for seconds
        await until(busy, "the first run")
        headers = {"x-request-timeout-seconds": "0.3"}
        async with aiohttp.ClientSession() as http:
            async with http.get(f"http://127.0.0.1:{PORT}/slow", headers=headers) as got:
                assert got.status == 408
        assert await first == "done"
        await until(idle, "the end of all runs")
        counts = await handle.counts.remote()
        assert (counts["arrived"], counts["completed"], counts["not_run"]) == (2, 1, 1)

    asyncio.run(main())


def test_load_and_a_rolling_update(cluster: Any, models: Models, tmp_path: Path, tell: Any) -> None:
    options = {"num_replicas": 3, "max_ongoing_requests": 8}
    deploy(models, args={"notes": str(tmp_path)}, **options)
    clients = Clients("/add")

    async def update() -> None:
        await until(lambda: clients.next > 200, "load")
        args = {"notes": str(tmp_path), "version": 2}
        await asyncio.to_thread(deploy, models, args=args, **options)
        seen = clients.next
        await until(lambda: clients.next > seen + 200, "load")

    asyncio.run(clients.many(8, update))
    assert clients.check(tmp_path, tell) == {"200": clients.next}
    assert clients.versions["1"] and clients.versions["2"]


def test_scale_up_and_down(cluster: Any, models: Models, tmp_path: Path, tell: Any) -> None:
    deploy(
        models,
        args={"notes": str(tmp_path)},
        max_ongoing_requests=8,
        autoscaling_config={
            "min_replicas": 1,
            "max_replicas": 3,
            "target_ongoing_requests": 1,
            "metrics_interval_s": 0.2,
            "look_back_period_s": 1,
            "upscale_delay_s": 0.5,
            "downscale_delay_s": 1,
        },
    )
    assert running() == 1
    clients = Clients("/add")

    async def up() -> None:
        await until(lambda: running() == 3, "three replicas")

    async def down() -> None:
        await until(lambda: running() == 1, "one replica")

    async def trickle() -> None:
        async with aiohttp.ClientSession() as http:
            ends = asyncio.ensure_future(down())
            while not ends.done():
                await clients.one(http)
                await asyncio.sleep(0.2)
            await ends

    asyncio.run(clients.many(12, up))
    asyncio.run(trickle())
    assert clients.check(tmp_path, tell) == {"200": clients.next}


def test_a_lost_context_is_replaced(cluster: Any, models: Models) -> None:
    handle = deploy(models)
    handle.lose.remote().result()

    async def again() -> bool:
        try:
            return bool((await handle.add.remote(ones)).tolist() == [[2, 2, 2]])
        except Exception:
            return False

    asyncio.run(until(again, "another replica"))


def test_metrics_are_ray_s(cluster: Any, models: Models) -> None:
    handle = deploy(models)
    for _ in range(3):
        handle.add.remote(ones).result()
    with pytest.raises(polychron.ArgumentError):
        handle.add.remote(ones[0]).result()
    ports = [node["MetricsExportPort"] for node in ray.nodes() if node["Alive"]]
    addresses = [node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]]

    async def there() -> bool:
        text = ""
        async with aiohttp.ClientSession() as http:
            for address, port in zip(addresses, ports):
                try:
                    async with http.get(f"http://{address}:{port}/metrics") as got:
                        text += await got.text()
                except aiohttp.ClientError:
                    pass
        lines = [line for line in text.splitlines() if "polychron_runs" in line and line[0] != "#"]
        return (
            any('outcome="done"' in line and line.split()[-1] == "3.0" for line in lines)
            and any('outcome="failed"' in line for line in lines)
            and "polychron_run_seconds" in text
            and "polychron_in_flight" in text
        )

    # Ray gives each metric at a moment of its own.
    asyncio.run(until(there, "counters"))


def test_a_raylet_is_killed(
    cluster: Any, models: Models, tmp_path: Path, tell: Any
) -> None:
    args = {"notes": str(tmp_path), "pause": 0.05}  # so that most requests are at replicas
    deploy(models, args=args, num_replicas=3, max_ongoing_requests=8)
    clients = Clients("/add")

    async def kill() -> None:
        await until(lambda: clients.next > 200, "load")
        [raylet] = next(iter(cluster.worker_nodes)).all_processes["raylet"]
        os.kill(raylet.process.pid, signal.SIGKILL)
        raylet.process.wait()  # to its workers a zombie is alive, and they go on
        await until(lambda: running() < 3, "the end of its replicas")
        await until(lambda: running() == 2, "replicas in all places that are left")
        seen = clients.next
        await until(lambda: clients.next > seen + 200, "load")

    asyncio.run(clients.many(12, kill))
    statuses = clients.check(tmp_path, tell)
    # Ray promises nothing for the requests that the dead replicas had: not more than all in flight.
    assert set(statuses) <= {"200", "500", "503"}
    assert clients.next - statuses["200"] <= 12
