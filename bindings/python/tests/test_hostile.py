"""Forks, exits in the middle of work, threads, deletion in any order."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
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
from polychron import Session, ml
chance = random.Random(int(sys.argv[1]))
session = Session(sys.argv[2], lanes=2)
context = ml.create_context().result()
tensor = context.create_tensor("float32", [1000], readable=True, writable=True).result()
x = np.zeros((512, 512), np.float32)
def work():
    while True:
        session.run({"x": x.T if chance.random() < 0.5 else x})
def write_and_read():
    while True:
        context.write_tensor(tensor, x[0, :1].repeat(1000))
        context.read_tensor(tensor).result()
async def one():
    while True:
        await session.run_async({"x": x})
        await context.read_tensor(tensor)
async def loop(seconds):
    await asyncio.wait([asyncio.ensure_future(one()) for _ in range(3)], timeout=seconds)
kept = [session.run_async({"x": x}) for _ in range(chance.randrange(4))]
targets = [work, work, write_and_read, lambda: asyncio.run(loop(None))]
for _ in range(3):
    threading.Thread(target=chance.choice(targets), daemon=True).start()
threading.Event().wait(chance.random() * 0.05)
if chance.random() < 0.3:  # reads that wait for ever, and threads that wait for them
    kept.append(context.export_tensor(tensor).result())
    kept.append(context.read_tensor(tensor))
    threading.Thread(target=kept[-1].result, daemon=True).start()
if chance.random() < 0.3:
    asyncio.run(loop(0.01))
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


PRELOADED = """
import os
import numpy as np
import polychron
path = os.environ["MODEL"]
ones = np.ones((1, 3), np.float32)
session = polychron.Session(path)
session.run({"x": ones, "y": ones})
own = []
def app(environ, start):
    try:
        answer = session.run({"x": ones, "y": ones})
    except polychron.InvalidStateError:
        own.append(own[0] if own else polychron.Session(path))
        answer = own[0].run({"x": ones, "y": ones})["z"].tolist()
    start("200 OK", [])
    return [f"{os.getpid()} {answer}".encode()]
"""


def test_gunicorn_with_preload(models: Models, tmp_path: Path) -> None:
    """Workers are forks of a process that has run a model. Each makes a session of its own."""
    (tmp_path / "preloaded.py").write_text(PRELOADED)
    command = [sys.executable, "-m", "gunicorn", "--preload", "--workers=2", "--bind=127.0.0.1:0"]
    log = tmp_path / "log"
    server = subprocess.Popen(
        [*command, f"--error-logfile={log}", "--capture-output", "preloaded:app"],
        cwd=tmp_path, env={**os.environ, "MODEL": models.path("add")},
    )
    while not (at := re.search(r"Listening at: (\S+)", log.read_text() if log.exists() else "")):
        assert server.poll() is None, log.read_text()
        os.sched_yield()

    def ask() -> tuple[int, str]:
        while True:
            with contextlib.suppress(ConnectionError):  # a worker that was killed as it took the request
                pid, answer = urllib.request.urlopen(at[1]).read().decode().split(" ", 1)
                return int(pid), answer

    killed = set()
    for _ in range(4):
        pid, answer = ask()
        assert answer == "[[2.0, 2.0, 2.0]]" and pid not in killed
        assert ask()[1] == answer
        os.kill(pid, signal.SIGKILL)
        killed.add(pid)
    server.terminate()
    assert server.wait() == 0
    assert "Traceback" not in log.read_text() and "SIGSEGV" not in log.read_text()


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
