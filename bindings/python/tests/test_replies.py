"""Replies: await, result, cancel, deadlines, interrupts."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from typing import Any

import anyio
import numpy as np
import pytest
from conftest import Models, f32

from polychron import AbortError, MLContext, MLGraphBuilder, Session, TimeoutError, ml

ones = np.ones((1, 3), np.float32)
big = np.zeros((512, 512), np.float32)


def test_await(models: Models) -> None:
    async def main() -> None:
        async with await ml.create_context() as context:
            builder = MLGraphBuilder(context)
            x = builder.input("x", "float32", [3])
            async with await builder.build({"y": builder.relu(x)}) as graph:
                a = await context.create_tensor("float32", [3], writable=True)
                b = await context.create_tensor("float32", [3], readable=True)
                context.write_tensor(a, f32([-1, 0, 1]))
                context.dispatch(graph, {"x": a}, {"y": b})
                reply = context.read_tensor(b)
                assert (await reply).tolist() == [0, 0, 1]
                assert await reply is reply.result()
        session = await Session.load(models.path("add"))
        async with session:
            outputs = await session.run_async({"x": ones, "y": ones})
            assert outputs["z"].tolist() == [[2, 2, 2]]

    asyncio.run(main())


def test_one_wake_up_for_all_that_are_due(models: Models, monkeypatch: Any) -> None:
    from polychron import _replies

    wakes: list[int] = []
    drain = _replies._Loop.drain

    def counted(self: Any) -> None:
        before = len(self.waiting)
        drain(self)
        wakes.append(before - len(self.waiting))

    monkeypatch.setattr(_replies._Loop, "drain", counted)

    async def main() -> None:
        session = await Session.load(models.path("slow"))
        replies = [session.run_async({"x": big}) for _ in range(4)]
        tasks = [asyncio.ensure_future(_awaited(reply)) for reply in replies]
        await asyncio.sleep(0)  # all wait
        for reply in replies:
            reply._pending.wait(None)  # the loop sleeps until all are due
        await asyncio.gather(*tasks)
        session.destroy()

    asyncio.run(main())
    assert sum(wakes) <= 4 and len([each for each in wakes if each]) == 1


async def _awaited(reply: Any) -> Any:
    return await reply


def test_a_cancelled_task_cancels_the_run(models: Models) -> None:
    async def main() -> None:
        session = await Session.load(models.path("slow"))
        first = session.run_async({"x": big})
        second = session.run_async({"x": big}, label="second")
        task = asyncio.ensure_future(_awaited(second))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await first)["h8"].sum() == 0
        with pytest.raises(AbortError) as caught:
            second.result()
        assert caught.value.label == "second" and not caught.value.ran
        session.destroy()

    asyncio.run(main())


def test_a_deadline_skips_the_run(models: Models) -> None:
    with Session(models.path("slow")) as session:
        first = session.run_async({"x": big})
        with pytest.raises(TimeoutError):
            session.run({"x": big}, timeout=0)
        first.result()


def test_a_wait_has_a_limit(context: MLContext) -> None:
    tensor = context.create_tensor("uint8", [1], readable=True, writable=True).result()
    lease = context.export_tensor(tensor).result()
    reply = context.read_tensor(tensor)
    with pytest.raises(TimeoutError):
        reply.result(0.01)
    lease.release()
    assert reply.result().tolist() == [0]


def test_several_tasks_and_loops_await_one_reply(context: MLContext) -> None:
    tensor = context.create_tensor("uint8", [1], readable=True, writable=True).result()
    lease = context.export_tensor(tensor).result()
    reply = context.read_tensor(tensor)
    waiting = threading.Barrier(3)

    async def main() -> list[list[int]]:
        async def one() -> list[int]:
            value: list[int] = (await reply).tolist()
            return value

        tasks = [asyncio.create_task(one()) for _ in range(3)]
        await asyncio.sleep(0)  # each of them waits by now
        await asyncio.to_thread(waiting.wait)
        return await asyncio.gather(*tasks)

    heard: list[list[int]] = []
    loops = [
        threading.Thread(target=lambda: heard.extend(asyncio.run(main())), daemon=True)
        for _ in range(2)
    ]
    for loop in loops:
        loop.start()
    waiting.wait()
    lease.release()
    for loop in loops:
        loop.join(30)
    assert heard == [[0]] * 6


def test_an_interrupt_ends_a_wait(context: MLContext) -> None:
    tensor = context.create_tensor("uint8", [1], readable=True, writable=True).result()
    lease = context.export_tensor(tensor).result()
    reply = context.read_tensor(tensor)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's "&" has it ignored
    interrupt = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        reply.result()
    interrupt.join()
    lease.release()
    assert reply.result().tolist() == [0]


def test_a_wait_releases_the_gil(context: MLContext) -> None:
    tensor = context.create_tensor("uint8", [1], readable=True, writable=True).result()
    lease = context.export_tensor(tensor).result()
    release = threading.Thread(target=lease.release)
    reply = context.read_tensor(tensor)
    assert not reply.done()
    release.start()
    assert reply.result().tolist() == [0]
    release.join()


def test_no_thread_of_the_library_takes_the_gil(models: Models) -> None:
    """This thread keeps the GIL while the reply settles. A settling thread that wants it hangs."""
    from polychron import _native

    interval = sys.getswitchinterval()
    with Session(models.path("slow")) as session:
        waker = _native.Waker()
        reply = session.run_async({"x": big})
        reply._pending.watch(waker, 1)
        sys.setswitchinterval(1000)
        try:
            while not reply._pending.settled():
                pass
        finally:
            sys.setswitchinterval(interval)
        assert waker.take() == [1]


def test_many_tasks_on_one_loop(models: Models) -> None:
    async def main() -> None:
        session = await Session.load(models.path("add"))

        async def one(rows: int) -> None:
            x = np.full((rows, 3), rows, np.float32)
            for _ in range(5):
                z = (await session.run_async({"x": x, "y": x}))["z"]
                assert z.shape == (rows, 3) and (z == 2 * rows).all()

        await asyncio.gather(*(one(1 + i % 4) for i in range(64)))
        session.destroy()

    asyncio.run(main())
    asyncio.run(main())  # another loop


async def _serves(models: Models) -> None:
    """What every loop has to do, by anyio's rules."""
    session = await Session.load(models.path("slow"))
    outputs: list[Any] = []

    async def one() -> None:
        outputs.append(await session.run_async({"x": big}))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(one)
    assert [each["h8"].sum() for each in outputs] == [0, 0, 0]
    first, second = session.run_async({"x": big}), session.run_async({"x": big}, label="second")
    with anyio.move_on_after(0) as scope:
        await second
    assert scope.cancelled_caught
    with pytest.raises(AbortError):
        await second
    with pytest.raises(TimeoutError):
        await session.run_async({"x": big}, timeout=0)
    assert (await first)["h8"].sum() == 0
    async with session, await ml.create_context() as context:
        tensor = await context.create_tensor("uint8", [1], readable=True)
        assert (await context.read_tensor(tensor)).tolist() == [0]


@pytest.mark.parametrize("backend", ["asyncio", "uvloop", "trio"])
def test_every_loop(models: Models, backend: str) -> None:
    options = {"use_uvloop": True} if backend == "uvloop" else {}
    for _ in range(2):
        anyio.run(
            _serves, models, backend=backend.replace("uvloop", "asyncio"), backend_options=options
        )


def test_a_dropped_coroutine_cancels_the_run(models: Models) -> None:
    with Session(models.path("slow")) as session:
        first, second = session.run_async({"x": big}), session.run_async({"x": big})

        async def main() -> None:
            coroutine = _awaited(second)
            coroutine.send(None)
            coroutine.close()

        asyncio.run(main())
        assert first.result()["h8"].sum() == 0
        with pytest.raises(AbortError):
            second.result()


def test_a_task_that_never_waits_leaves_the_loop_its_turns(models: Models) -> None:
    async def main() -> None:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        beside = asyncio.ensure_future(other())
        with Session(models.path("add"), bindings={"rows": 1}) as session:
            for done in range(100):
                await session.run_async({"x": ones, "y": ones})
                assert turns >= done
        beside.cancel()

    asyncio.run(main())


def test_without_a_loop(models: Models) -> None:
    with Session(models.path("slow")) as session:
        with pytest.raises(RuntimeError, match="async context"):
            _awaited(session.run_async({"x": big})).send(None)


def test_context_loss_is_a_reply(context: MLContext) -> None:
    lost = context.lost
    context.destroy()
    assert lost.result().reason == "destroyed"
