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

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.waker = _native.Waker()
        self.waiting: dict[int, asyncio.Future[None]] = {}
        self.tokens = 0
        loop.add_reader(self.waker.descriptor(), self.drain)

    def wait(self, pending: _native.Pending, future: asyncio.Future[None]) -> int:
        self.tokens += 1
        self.waiting[self.tokens] = future
        pending.watch(self.waker, self.tokens)
        return self.tokens

    def drain(self) -> None:
        for token in self.waker.take():
            future = self.waiting.pop(token, None)
            if future is not None and not future.done():
                future.set_result(None)


_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = WeakKeyDictionary()


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
        if not self._pending.ready():
            import asyncio

            running = asyncio.get_running_loop()
            own = _loops.get(running)
            if own is None:
                own = _loops[running] = _Loop(running)
            future: asyncio.Future[None] = running.create_future()
            token = own.wait(self._pending, future)
            try:
                yield from future
            except asyncio.CancelledError:
                own.waiting.pop(token, None)
                self.cancel()
                raise
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
