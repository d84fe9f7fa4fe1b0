"""WebNN's interfaces in Python: names in snake case, promises as replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

from . import _native
from ._arrays import unpacked, with_plain
from ._errors import ArgumentError
from ._operators import Operators
from ._replies import Closing, Reply

DataType = Literal[
    "float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8", "int4", "uint4"
]


Size = TypeVar("Size")
T = TypeVar("T")

#: A size; or the name of a dynamic dimension, alone or with its largest size; None has no name.
Dimension = int | str | None | tuple[str | None, int]


class LostInfo(NamedTuple):
    """Why a context is gone."""

    reason: str  #: "destroyed", "device_failed", "out_of_memory", "runtime_shutdown"
    message: str


def own_of(value: object, expected: type[Any], what: str, name: str | None = None) -> Any:
    """The extension's object of `value`. Raises ArgumentError for another class."""
    if isinstance(value, expected):
        return value._own
    what += "" if name is None else f" {name!r}"
    hint = ": await it, or ask for its result()" if isinstance(value, Reply) else ""
    raise ArgumentError(f"{what}: expected an {expected.__name__}, got {type(value).__name__}{hint}")


def by_name(given: Mapping[str, T], what: str) -> Mapping[str, T]:
    """Raises ArgumentError unless it is a mapping."""
    if hasattr(given, "items"):
        return given
    raise ArgumentError(f"{what}: expected a dict by name, got {type(given).__name__}")


def _owns(given: Mapping[str, object], expected: type[Any], what: str) -> dict[str, Any]:
    items = by_name(given, what).items()
    return {name: own_of(value, expected, what, name) for name, value in items}


class _Described(Generic[Size]):
    """What has a data type and a shape."""

    __slots__ = ("_own", "data_type", "shape")
    data_type: DataType
    shape: tuple[Size, ...]

    def __init__(self, own: Any) -> None:
        self._own = own
        self.data_type, self.shape = own.descriptor()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.data_type} {list(self.shape)}>"


class MLTensor(_Described[int], Closing):
    """Memory of a context. Dropping it frees the memory after all earlier calls."""

    __slots__ = ()

    @property
    def readable(self) -> bool:
        return bool(self._own.readable())

    @property
    def writable(self) -> bool:
        return bool(self._own.writable())

    @property
    def constant(self) -> bool:
        return bool(self._own.constant())

    @property
    def label(self) -> str:
        return str(self._own.label())

    def destroy(self) -> None:
        """Rejects pending reads, and refuses new work."""
        self._own.destroy()


class MLOperand(_Described[int | str]):
    """A value in a graph under construction. Its shape has dynamic dimensions by their names."""

    __slots__ = ()


class MLGraph(Closing):
    """A compiled graph."""

    __slots__ = ("_own",)

    def __init__(self, own: Any) -> None:
        self._own = own

    @property
    def inputs(self) -> dict[str, tuple[DataType, tuple[int | str, ...]]]:
        """Data type and shape of each input, dynamic dimensions by their names."""
        return self._own.inputs()  # type: ignore[no-any-return]

    @property
    def outputs(self) -> dict[str, tuple[DataType, tuple[int | str, ...]]]:
        """Data type and shape of each output, dynamic dimensions by their names."""
        return self._own.outputs()  # type: ignore[no-any-return]

    def compute_shapes(self, inputs: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """The outputs' shapes for these shapes of all inputs. Compiles nothing."""
        return self._own.compute_shapes(dict(by_name(inputs, "compute_shapes")))  # type: ignore[no-any-return]

    def prepare(self, inputs: Mapping[str, Sequence[int]]) -> Reply[None]:
        """Compiles a graph with dynamic dimensions for these shapes, ahead of the first dispatch."""
        return Reply(self._own.prepare(dict(by_name(inputs, "prepare"))), lambda done: None)

    def plan(self) -> list[str]:
        """The compiled steps, one line for each."""
        return list(self._own.plan())

    def destroy(self) -> None:
        """Refuses new dispatches; earlier ones still run."""
        self._own.destroy()


class MLTensorLease(Closing):
    """The memory of a tensor, without a copy, until it is released. Operations on the tensor wait."""

    __slots__ = ("_own", "_tensor", "view")

    def __init__(self, own: Any, tensor: MLTensor) -> None:
        self._own = own
        self._tensor = tensor
        #: A writable memoryview of the elements; of bytes, if two elements are in one.
        self.view = self._new_view()

    def _new_view(self) -> memoryview:
        code = {"float32": "f", "float16": "e", "int32": "i", "uint32": "I", "int64": "q",
                "uint64": "Q", "int8": "b", "uint8": "B"}.get(self._tensor.data_type)
        flat = memoryview(self._own)
        if code is None:
            return flat
        with flat:
            return flat.cast(code, list(self._tensor.shape))  # type: ignore[call-overload,no-any-return]

    def __dlpack__(self, **options: Any) -> Any:
        """The memory as a DLPack capsule. release() waits for its end: see there."""
        import numpy

        return numpy.asarray(memoryview(self.view)).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    @property
    def revoked(self) -> bool:
        """True once the tensor is destroyed or its context lost: what is written is lost."""
        return bool(self._own.revoked())

    def release(self) -> None:
        """Gives the memory back. Later accesses to `view` raise ValueError.

        Raises BufferError while an array, a capsule or another view still uses the memory.
        """
        self.view.release()
        if not self._own.release():
            self.view = self._new_view()
            raise BufferError("the lease is still in use: drop the arrays made from it first")

    def destroy(self) -> None:
        self.release()


class MLContext(Closing):
    """Owns tensors and graphs, and runs what is dispatched. Any thread may call it at any time.

    Calls from one thread take effect in call order. Dropping the last object that uses it
    destroys it.
    """

    __slots__ = ("_own", "label")

    def __init__(self, own: Any, label: str = "") -> None:
        self._own = own
        self.label = label

    @property
    def accelerated(self) -> bool:
        """True if it computes on a GPU."""
        return bool(self._own.accelerated())

    def create_tensor(
        self,
        data_type: DataType,
        shape: Sequence[int],
        *,
        readable: bool = False,
        writable: bool = False,
        label: str = "",
    ) -> Reply[MLTensor]:
        """A tensor of zeros."""
        return Reply(
            self._own.create_tensor(data_type, shape, readable, writable, label), MLTensor
        )

    def create_constant_tensor(
        self, data_type: DataType, shape: Sequence[int], data: object, *, label: str = ""
    ) -> Reply[MLTensor]:
        """A tensor that is never written again, for MLGraphBuilder.constant(). Copies `data`."""
        call = lambda array: self._own.create_constant_tensor(data_type, shape, array, label)
        return Reply(with_plain(call, data, "create_constant_tensor"), MLTensor)

    def write_tensor(
        self, tensor: MLTensor, data: object, *, label: str = "", timeout: float | None = None
    ) -> None:
        """Replaces the tensor's elements. Copies `data` once, before it returns.

        `data` has the buffer protocol or `__dlpack__`, the tensor's data type, and its shape or one
        dimension. `timeout` is in seconds: the write is skipped if it has not started by then.
        """
        own = own_of(tensor, MLTensor, "write_tensor")
        call = lambda array: self._own.write_tensor(own, array, label, timeout)
        with_plain(call, data, "write_tensor")

    def read_tensor(self, tensor: MLTensor) -> Reply[Any]:
        """The tensor's elements after all earlier calls: a numpy array that owns its memory.

        int4 and uint4 are read as int8 and uint8.
        """
        own = own_of(tensor, MLTensor, "read_tensor")
        made = lambda array: array
        if tensor.data_type in ("int4", "uint4"):
            made = lambda array: unpacked(array, tensor.data_type, tensor.shape)
        return Reply(self._own.read_tensor(own), made)

    def export_tensor(self, tensor: MLTensor) -> Reply[MLTensorLease]:
        """Leases the memory of a readable and writable tensor, after all earlier calls."""
        exported = self._own.export_tensor(own_of(tensor, MLTensor, "export_tensor"))
        return Reply(exported, lambda own: MLTensorLease(own, tensor))

    def dispatch(
        self,
        graph: MLGraph,
        inputs: Mapping[str, MLTensor],
        outputs: Mapping[str, MLTensor],
        *,
        label: str = "",
        timeout: float | None = None,
    ) -> None:
        """Runs `graph` on tensors. It returns at once; a read waits for the outputs.

        `timeout` is in seconds: the dispatch is skipped if it has not started by then.
        """
        self._own.dispatch(
            own_of(graph, MLGraph, "dispatch"),
            _owns(inputs, MLTensor, "dispatch: input"),
            _owns(outputs, MLTensor, "dispatch: output"),
            label,
            timeout,
        )

    def op_support_limits(self) -> dict[str, Any]:
        """The data types and ranks that each operator accepts, by the specification's names."""
        return self._own.op_support_limits()  # type: ignore[no-any-return]

    def stats(self) -> dict[str, int]:
        """Counters: operations, copies, bytes."""
        return self._own.stats()  # type: ignore[no-any-return]

    @property
    def lost(self) -> Reply[LostInfo]:
        """Resolves when the context is destroyed or its device is lost."""
        return Reply(self._own.lost(), lambda parts: LostInfo(*parts))

    def destroy(self) -> None:
        """Destroys every tensor and graph, and rejects every pending reply."""
        self._own.destroy()


class MLGraphBuilder(Operators):
    """Collects the operators of a graph. One thread at a time uses it."""

    __slots__ = ("_own",)

    def __init__(self, context: MLContext) -> None:
        self._own = _native.Builder(own_of(context, MLContext, "MLGraphBuilder"))

    def input(self, name: str, data_type: DataType, shape: Sequence[Dimension]) -> MLOperand:
        """An input of the graph.

        Each dispatch decides the dynamic dimensions of `shape`: `"rows"`, `("rows", 512)` for at
        most 512, None. Those of one name are equal. The context needs the feature
        "dynamic-dimensions".
        """
        return MLOperand(self._own.input(name, data_type, shape))

    def constant(
        self, data: object, data_type: DataType | None = None, shape: Sequence[int] | None = None
    ) -> MLOperand:
        """A constant: of a constant tensor, of a number with its data type, or a copy of an array.

        Data type and shape are those of the array, unless they are given.
        """
        if isinstance(data, MLTensor):
            return MLOperand(self._own.constant_tensor(data._own))
        if isinstance(data, (int, float)) and shape is None:
            return MLOperand(self._own.scalar(data_type or "float32", data))
        if data_type is None or shape is None:
            import numpy

            array: Any = data if hasattr(data, "dtype") else numpy.asarray(data)
            data_type = data_type or array.dtype.name
            shape = array.shape if shape is None else shape
            data = array
        call = lambda array: self._own.constant(data_type, shape, array)
        return MLOperand(with_plain(call, data, "constant"))

    def reshape(
        self, input: MLOperand, new_shape: Sequence[Dimension], *, label: str = ""
    ) -> MLOperand:
        """WebNN's reshape(). `new_shape` may name dynamic dimensions of `input`."""
        if all(isinstance(size, int) for size in new_shape):
            return super().reshape(input, cast("Sequence[int]", new_shape), label=label)
        own = own_of(input, MLOperand, "reshape")
        return MLOperand(self._own.reshape(own, new_shape, label))

    def build(
        self, outputs: Mapping[str, MLOperand], *, label: str = "", most_shapes: int = 64
    ) -> Reply[MLGraph]:
        """Compiles the graph up to these outputs. The builder is then used up.

        With dynamic dimensions it stays compiled for the `most_shapes` latest sets of shapes.
        """
        own = _owns(outputs, MLOperand, "build: output")
        return Reply(self._own.build(own, label, most_shapes), MLGraph)

    def _apply(
        self,
        name: str,
        operands: list[MLOperand | None],
        attributes: dict[str, Any],
        label: str,
    ) -> list[MLOperand]:
        own = [getattr(operand, "_own", operand) for operand in operands]
        given = {key: value for key, value in attributes.items() if value is not None}
        return [MLOperand(each) for each in self._own.apply(name, own, given, label)]


class ML:
    """The entry to WebNN: `polychron.ml`."""

    __slots__ = ()

    def create_context(
        self,
        *,
        power_preference: Literal["default", "high-performance", "low-power"] = "default",
        accelerated: bool = True,
        label: str = "",
        threads: int = 0,
        lanes: int = 1,
        memory_limit: int | None = None,
        max_in_flight: int | None = None,
        features: Sequence[str] = (),
    ) -> Reply[MLContext]:
        """A context. The first one starts the library's threads.

        `threads` share the work of one operation; `lanes` run operations side by side. With 0
        the library chooses them, from the cores that the process may use. `memory_limit` is in
        bytes. Beyond `max_in_flight` operations a call raises QuotaExceededError: calls never
        block. `features` are proposed to the specification, and may change: "dynamic-dimensions".
        """
        return Reply(
            _native.create_context(
                label, accelerated, power_preference, threads, lanes, memory_limit, max_in_flight,
                features,
            ),
            lambda own: MLContext(own, label),
        )


ml = ML()
