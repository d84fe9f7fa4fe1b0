"""Replies: `await` them, or wait by `result()`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from . import _native
from ._errors import TimeoutError

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class _Loop:
    """An event loop's replies. One wake-up settles all that are due."""

    def __init__(self) -> None:
        self.waker = _native.Waker()
        self.waiting: dict[int, Callable[[], object]] = {}
        self.tokens = 0
        self.vain = 0  #: replies that this thread does not help, as it tried in vain

    async def until(
        self,
        pending: _native.Pending,
        due: Callable[[], object],
        wait: Callable[[], Awaitable[object]],
        turn: Callable[[], Awaitable[object]],
    ) -> None:
        """Awaits `wait()`, which `due()` ends once the reply is there. Otherwise it cancels."""
        # With other replies under way the loop is woken anyway, and a long run is not helped. To
        # try all the same may cost the loop a time slice beside busy cores, which is 4 ms on Linux.
        if not self.waiting:
            if self.vain:
                self.vain -= 1
            elif pending.ready():
                await turn()  # a task that never waits must not keep the loop for itself
                return
            else:
                self.vain = 64
        self.tokens += 1
        token = self.tokens
        self.waiting[token] = due
        try:
            pending.watch(self.waker, token)
            await wait()
        except BaseException:
            self.waiting.pop(token, None)
            pending.cancel()
            raise

    def drain(self) -> None:
        for token in self.waker.take():
            due = self.waiting.pop(token, None)
            if due is not None:
                due()


#: By asyncio's loop, or by trio's token.
_loops: WeakKeyDictionary[Any, _Loop] = WeakKeyDictionary()


def _asyncio_running() -> asyncio.AbstractEventLoop | None:
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


async def _in_asyncio(running: asyncio.AbstractEventLoop, pending: _native.Pending) -> None:
    import asyncio

    own = _loops.get(running)
    if own is None:
        own = _loops[running] = _Loop()
        running.add_reader(own.waker.descriptor(), own.drain)
    future: asyncio.Future[None] = running.create_future()

    def due() -> None:
        if not future.done():
            future.set_result(None)

    await own.until(pending, due, lambda: future, lambda: asyncio.sleep(0))


async def _in_trio(pending: _native.Pending) -> None:
    import trio

    running = trio.lowlevel.current_trio_token()
    own = _loops.get(running)
    if own is None:
        own = _loops[running] = _Loop()
        trio.lowlevel.spawn_system_task(_drain_in_trio, own)
    event = trio.Event()
    await own.until(pending, event.set, event.wait, trio.lowlevel.checkpoint)


async def _drain_in_trio(own: _Loop) -> None:
    import trio

    while True:
        await trio.lowlevel.wait_readable(own.waker.descriptor())
        own.drain()


async def in_thread(call: Callable[[], T]) -> T:
    """`call()` on a thread; the loop goes on."""
    if _asyncio_running() is not None:
        import asyncio

        return await asyncio.to_thread(call)
    import trio

    return await trio.to_thread.run_sync(call)


class Reply(Generic[T]):
    """The reply of a call that is under way: awaitable, and a thread can wait for it.

    It can be asked any number of times, by any thread and any event loop. Dropping it is legal:
    the operation goes on.
    """

    __slots__ = ("_made", "_pending", "_value")

    def __init__(self, pending: _native.Pending, made: Callable[[Any], T]) -> None:
        self._pending = pending
        self._made: Callable[[Any], T] | None = made
        self._value: Any = None

    def done(self) -> bool:
        """True if the reply is there. Runs short jobs that it depends on; never blocks."""
        return self._pending.ready()

    def result(self, timeout: float | None = None) -> T:
        """Waits for the value, at most `timeout` seconds. Releases the GIL.

        Raises the operation's error; TimeoutError if the time is over, and then the operation goes
        on; KeyboardInterrupt.
        """
        if not self._pending.wait(timeout):
            raise TimeoutError(f"no reply within {timeout} seconds")
        return self._take()

    def cancel(self) -> None:
        """Skips the operation if it has not started, and if it can be skipped: a run can."""
        self._pending.cancel()

    def _take(self) -> T:
        if self._made is not None:
            self._value = self._made(self._pending.value())
            self._made = None
        value: T = self._value
        return value

    def __await__(self) -> Generator[Any, None, T]:
        if not self._pending.settled():
            running = _asyncio_running()
            if running is not None:
                yield from _in_asyncio(running, self._pending).__await__()
            else:
                yield from _in_trio(self._pending).__await__()
        return self._take()


class Closing:
    """`with` and `async with` destroy the object at the end."""

    __slots__ = ()

    def destroy(self) -> None:
        raise NotImplementedError

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    async def __aenter__(self: T) -> T:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.destroy()
