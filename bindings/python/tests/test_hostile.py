"""Forks, exits in the middle of work, threads, deletion in any order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import random
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from conftest import Models

import polychron
from polychron import InvalidStateError, MLContext, Session, ml

ones = np.ones((1, 3), np.float32)

MIDDLE = """
import random, sys, threading, asyncio
import numpy as np
from polychron import Session
chance = random.Random(int(sys.argv[1]))
session = Session(sys.argv[2], lanes=2)
x = np.zeros((512, 512), np.float32)
def work():
    while True:
        session.run({"x": x.T if chance.random() < 0.5 else x})
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
kept = [session.run_async({"x": x}) for _ in range(chance.randrange(4))]
threading.Event().wait(chance.random() * 0.05)
if chance.random() < 0.3:
    async def loop():
        await asyncio.wait([asyncio.ensure_future(one()) for _ in range(3)], timeout=0.01)
    async def one():
        await session.run_async({"x": x})
    asyncio.run(loop())
if chance.random() < 0.2:
    sys.exit(0)
"""


def test_exits_in_the_middle_of_work(models: Models) -> None:
    count = int(os.environ.get("POLYCHRON_EXITS", "34"))  # of each of three Pythons
    first = random.randrange(1 << 30)
    for seed in range(first, first + count):
        command = [sys.executable, "-c", MIDDLE, str(seed), models.path("slow")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), f"seed {seed}"


def _in_child(session: Session, answers: Any) -> None:
    try:
        session.run({"x": ones, "y": ones})
        answers.put("ran")
    except InvalidStateError as error:
        answers.put(str(error))
    try:
        session.run_async({"x": ones, "y": ones}).result(5)
        answers.put("ran")
    except InvalidStateError as error:
        answers.put(str(error))
    context = ml.create_context().result()  # the child's own
    tensor = context.create_tensor("uint8", [1], readable=True).result()
    answers.put(context.read_tensor(tensor).result().tolist())


def test_a_forked_child_gets_an_error(models: Models) -> None:
    session = Session(models.path("add"))
    session.run({"x": ones, "y": ones})
    slow = Session(models.path("slow"))
    pending = slow.run_async({"x": np.zeros((512, 512), np.float32)})
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_in_child, args=(session, answers))
    child.start()
    assert "fork" in answers.get() and "fork" in answers.get()
    assert answers.get() == [0]
    child.join()
    assert child.exitcode == 0
    pending.result()
    assert session.run({"x": ones, "y": ones})["z"].tolist() == [[2, 2, 2]]


def test_a_reply_of_the_parent_does_not_hang_in_a_child(models: Models) -> None:
    slow = Session(models.path("slow"))
    pending = slow.run_async({"x": np.zeros((512, 512), np.float32)})
    pending.done()
    child = os.fork()
    if child == 0:
        try:
            pending.result()
        except InvalidStateError:
            os._exit(3)
        os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert pending.result()["h8"].shape == (512, 512)


def _spawned(path: str) -> list[float]:
    with Session(path) as session:
        return list(session.run({"x": ones, "y": ones})["z"][0])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_start_methods(models: Models, method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_spawned, [models.path("add")] * 4) == [[2, 2, 2]] * 4


def test_threads_share_a_session(models: Models) -> None:
    with Session(models.path("add"), lanes=2) as session:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for i in range(50):
                    x = np.full((1 + (number + i) % 3, 3), number, np.float32)
                    assert (session.run({"x": x, "y": x})["z"] == 2 * number).all()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_deletion_in_any_order(models: Models) -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(30):
        context = ml.create_context().result()
        tensor = context.create_tensor("float32", [3], readable=True, writable=True).result()
        session = Session(models.path("add"), context=context)
        objects: list[Any] = [
            context,
            tensor,
            session,
            context.read_tensor(tensor),
            session.run_async({"x": ones, "y": ones}),
            context.export_tensor(tensor),
            session.run({"x": ones, "y": ones})["z"],
        ]
        del context, tensor, session
        chance.shuffle(objects)
        while objects:
            objects.pop()
    gc.collect()


def test_lent_memory_comes_back(models: Models) -> None:
    import weakref

    with Session(models.path("add")) as session:
        x = np.ones((1000, 3), np.float32)
        gone = weakref.ref(x)
        session.run({"x": x, "y": x})
        session.run({"x": ones, "y": ones})
        del x
        session.run({"x": ones, "y": ones})
        assert gone() is None


def test_forks_among_threads_and_tasks(models: Models) -> None:
    """Children make their own sessions while the parent's threads and tasks run."""
    path = models.path("add")
    with Session(path, lanes=2) as session:
        ended = threading.Event()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                while not ended.is_set():
                    assert session.run({"x": ones, "y": ones})["z"].tolist() == [[2, 2, 2]]
            except BaseException as error:
                failures.append(error)

        async def task() -> None:
            while not ended.is_set():
                assert (await session.run_async({"x": ones, "y": ones}))["z"].sum() == 6

        async def tasks() -> None:
            await asyncio.gather(*(task() for _ in range(4)))

        threads = [threading.Thread(target=work) for _ in range(2)]
        threads.append(threading.Thread(target=asyncio.run, args=(tasks(),)))
        for thread in threads:
            thread.start()
        codes = []
        for number in range(20):
            child = os.fork()
            if child == 0:
                with contextlib.suppress(BaseException):
                    with contextlib.suppress(InvalidStateError):
                        session.run({"x": ones, "y": ones})
                        os._exit(1)
                    own = Session(path)
                    if number % 2:
                        outputs = own.run_async({"x": ones, "y": ones}).result()
                    else:
                        outputs = own.run({"x": ones, "y": ones})
                    os._exit(0 if outputs["z"].sum() == 6 else 2)
                os._exit(3)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        ended.set()
        for thread in threads:
            thread.join()
        assert (codes, failures) == ([0] * 20, [])


def test_many_contexts() -> None:
    for _ in range(10_000):
        ml.create_context().result().destroy()


def test_many_contexts_at_once() -> None:
    """As many as the machine gives threads for, at most 500; then an error, and then again."""
    contexts = []
    with contextlib.suppress(polychron.OutOfMemoryError):
        for _ in range(500):
            contexts.append(ml.create_context().result())
    print(len(contexts), "contexts at once")
    for context in contexts:
        assert context.create_tensor("uint8", [1]).result().shape == (1,)
    contexts.clear()
    ml.create_context().result().destroy()


IN_SUBINTERPRETER = """
import sys
try:
    import _interpreters as interpreters
    run = lambda own, code: interpreters.exec(own, code)
except ImportError:
    import _xxsubinterpreters as interpreters
    run = lambda own, code: interpreters.run_string(own, code)
if sys.argv[1] == "after":
    import polychron
code = "try: import polychron\\nexcept ImportError as error: print(error, end='', flush=True)"
own = interpreters.create()
run(own, code)
interpreters.destroy(own)
import polychron
polychron.ml.create_context().result().destroy()
"""


@pytest.mark.parametrize("order", ["before", "after"])
def test_subinterpreters_are_refused(order: str) -> None:
    command = [sys.executable, "-c", IN_SUBINTERPRETER, order]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "subinterpreter" in done.stdout


def test_free_threaded_builds_are_refused() -> None:
    code = "import sys; sys.abiflags = 't'; import polychron"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError: polychron does not support free-threaded Python" in done.stderr
