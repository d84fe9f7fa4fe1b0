"""ONNX models."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _native
from ._arrays import plain
from ._errors import Unusual
from ._replies import Closing, Reply, in_thread
from ._webnn import MLContext, by_name, ml, own_of


class Value(NamedTuple):
    """An input or output, as the model declares it."""

    name: str
    type: str  #: ONNX's: "float", "int64", "bool"
    shape: tuple[int | str | None, ...] | None  #: free dimensions: their symbol, or None


class Session(Closing):
    """A model that is ready for inputs of any shape. It keeps a graph for each set of shapes.

    Any thread may call it at any time; any number of runs may be under way.
    """

    __slots__ = ("_context", "_own", "inputs", "label", "outputs")

    def __init__(
        self,
        model: str | os.PathLike[str] | bytes,
        *,
        context: MLContext | None = None,
        bindings: Mapping[str, int | Sequence[int]] | None = None,
        label: str = "",
        most_shapes: int = 16,
        threads: int = 0,
        lanes: int = 1,
    ) -> None:
        """Loads the model, and builds its graph if its shapes are fixed.

        `bindings` are sizes of free dimensions that are known now, by symbol, or all sizes of an
        input. Without a `context` the session has one of its own, of `threads` and `lanes`.
        """
        source = model if isinstance(model, bytes) else os.fspath(model)
        loaded = Reply(_native.load_model(source), lambda own: own).result()
        if not label:
            label = loaded.name() if isinstance(source, bytes) else _stem(source)
        self.label = label
        self._context = None
        if context is None:
            context = self._context = ml.create_context(
                label=label, threads=threads, lanes=lanes
            ).result()
        sizes = _sizes(bindings)
        self._own = _native.Sessions(
            own_of(context, MLContext, "Session"), loaded, label, sizes, most_shapes
        )
        #: The model's inputs.
        self.inputs = [Value(*each) for each in self._own.inputs()]
        #: The model's outputs.
        self.outputs = [Value(*each) for each in self._own.outputs()]
        known = all(
            value.name in sizes
            or (value.shape is not None and all(isinstance(s, int) or s in sizes for s in value.shape))
            for value in self.inputs
        )
        if known:
            self.prepare().result()

    @classmethod
    async def load(cls, model: str | os.PathLike[str] | bytes, **options: Any) -> Session:
        """The same as the constructor, for a coroutine: the loop goes on meanwhile."""
        return await in_thread(lambda: cls(model, **options))

    def prepare(self, bindings: Mapping[str, int | Sequence[int]] | None = None) -> Reply[None]:
        """Builds the graph for these sizes, by symbol or by input."""
        return Reply(self._own.prepare(_sizes(bindings)), lambda done: None)

    def run(
        self,
        inputs: Mapping[str, object],
        *,
        outputs: Sequence[str] = (),
        label: str = "",
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Runs the model and waits: numpy arrays by output name. Inputs are read in place.

        `outputs` are the wanted ones; without names all. `timeout` is in seconds: the run is
        skipped if it has not started by then. Releases the GIL while it waits.
        """
        given = inputs if isinstance(inputs, dict) else self._dict(inputs)
        try:
            return self._own.run(given, outputs, label, timeout)
        except Unusual:
            pass
        return self._own.run(self._plain(given), outputs, label, timeout)

    def run_async(
        self,
        inputs: Mapping[str, object],
        *,
        outputs: Sequence[str] = (),
        label: str = "",
        timeout: float | None = None,
        copy: bool = True,
    ) -> Reply[dict[str, Any]]:
        """The same, with a reply. Inputs are copied once, before it returns.

        With `copy=False` the run reads them in place: leave them as they are until the reply is
        there. Cancelling the task that awaits the reply skips the run if it has not started.
        """
        given = inputs if isinstance(inputs, dict) else self._dict(inputs)
        try:
            pending = self._own.start_run(given, outputs, label, timeout, not copy)
        except Unusual:
            pending = self._own.start_run(self._plain(given), outputs, label, timeout, not copy)
        return Reply(pending, lambda done: done)

    def destroy(self) -> None:
        """Refuses new runs; earlier ones still finish, unless the context is the session's own."""
        self._own.destroy()
        if self._context is not None:
            self._context.destroy()

    def _dict(self, inputs: Mapping[str, object]) -> dict[str, object]:
        return dict(by_name(inputs, f"run of '{self.label}'"))

    def _plain(self, inputs: Mapping[str, object]) -> dict[str, object]:
        return {
            name: plain(value, f"run of '{self.label}': input '{name}'")
            for name, value in inputs.items()
        }


def _sizes(bindings: Mapping[str, int | Sequence[int]] | None) -> dict[str, list[int]]:
    return {
        name: [size] if isinstance(size, int) else list(size)
        for name, size in (bindings or {}).items()
    }


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
