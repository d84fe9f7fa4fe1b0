"""Shapes changed and elements moved. All elements differ, so that a wrong move shows."""
import numpy as np

from .core import INF, NAN, RANGES, Numbers, Tensor, case, cast_number, formula


@formula("concat")
def concat(inputs, axis):
    return Tensor(inputs[0].kind, np.concatenate([tensor.a for tensor in inputs], axis))


@formula("expand")
def expand(input, newShape):
    return Tensor(input.kind, np.broadcast_to(input.a, newShape))


@formula("pad")
def pad(input, beginningPadding, endingPadding, mode="constant", value=0):
    widths = list(zip(beginningPadding, endingPadding))
    if mode != "constant":
        modes = {"edge": "edge", "reflection": "reflect"}
        result = np.pad(input.a, widths, mode=modes[mode]) if widths else input.a
    else:
        value = cast_number(value, input.kind)
        shape = [n + b + e for n, (b, e) in zip(input.shape, widths)]
        result = np.full(shape, value, dtype=object)
        result[tuple(slice(b, b + n) for n, (b, _) in zip(input.shape, widths))] = input.a
    return Tensor(input.kind, result)


@formula("reshape")
def reshape(input, newShape):
    return Tensor(input.kind, input.a.reshape(newShape))


@formula("reverse")
def reverse(input, axes=None):
    return Tensor(input.kind, np.flip(input.a, range(input.a.ndim) if axes is None else axes))


@formula("slice")
def slice_(input, starts, sizes, strides=None):
    strides = strides or [1] * len(starts)
    steps = tuple(slice(a, a + n, s) for a, n, s in zip(starts, sizes, strides))
    return Tensor(input.kind, input.a[steps])


@formula("split")
def split(input, splits, axis=0):
    parts = splits if isinstance(splits, int) else np.cumsum(splits[:-1])
    return [Tensor(input.kind, part) for part in np.split(input.a, parts, axis)]


@formula("tile")
def tile(input, repetitions):
    return Tensor(input.kind, np.tile(input.a, repetitions))


@formula("transpose")
def transpose(input, permutation=None):
    return Tensor(input.kind, input.a.transpose(permutation))


@formula("triangular")
def triangular(input, upper=True, diagonal=0):
    rows, columns = np.indices(input.shape[-2:])
    kept = columns - rows >= diagonal if upper else columns - rows <= diagonal
    return Tensor(input.kind, np.where(kept, input.a, 0))


def drawn(op, label, kind, shape):
    return Numbers(f"{op} {label}").distinct(kind, shape)


def every_type(op, shape, **arguments):
    """A case a type, so that each size of an element is moved."""
    for kind in ("float16", "uint32", "int64", "int8"):
        case(op, f"{kind} of another size or sign", input=drawn(op, kind, kind, shape), **arguments)


def concats():
    def add(label, axis, *shapes, kind="float32", constant=()):
        numbers = Numbers(f"concat {label}")
        tensors = [numbers.distinct(kind, shape) for shape in shapes]
        tensors = [t.as_constant() if i in constant else t for i, t in enumerate(tensors)]
        case("concat", f"{kind} {label}", inputs=tensors, axis=axis)
    add("rank 1", 0, (3,), (2,), (4,))
    add("axis 0", 0, (1, 3), (2, 3))
    add("axis 1", 1, (2, 1), (2, 3), (2, 2))
    add("axis 1 of 3", 1, (2, 1, 3), (2, 2, 3), kind="float16")
    add("the last axis of 4", 3, (2, 1, 2, 1), (2, 1, 2, 3))
    add("rank 8", 4, (1, 2, 1, 1, 1, 1, 2, 1), (1, 2, 1, 1, 2, 1, 2, 1))
    add("one input", 1, (2, 3))
    add("a constant", 0, (2, 2), (1, 2), constant=(1,))
    add("constants alone", 1, (2, 2), (2, 1), constant=(0, 1))
    add("five inputs", 1, *[(2, n) for n in (1, 3, 2, 1, 4)])
    for kind in ("int64", "uint64", "int32", "uint8"):
        add("axis 1", 1, (2, 3), (2, 1), kind=kind)
    same = drawn("concat", "same", "float32", (2, 2))
    case("concat", "float32 the same operand twice", inputs=[same, same], axis=1)


def expands():
    for label, shape, to in [
            ("a scalar", (), [2, 3]), ("a scalar to a scalar", (), []), ("rank 1", (1,), [5]),
            ("a dimension", (2, 1, 3), [2, 4, 3]), ("new dimensions", (3,), [2, 2, 3]),
            ("dimensions and new ones", (2, 1), [3, 2, 4]), ("as it is", (2, 3), [2, 3]),
            ("rank 8", (2, 1, 3, 1), [1, 2, 1, 1, 2, 2, 3, 1])]:
        case("expand", f"float32 {label}", input=drawn("expand", label, "float32", shape),
             newShape=to)
    case("expand", "float32 constant", input=Tensor("float32", [[1.5], [2.5]], constant=True),
         newShape=[2, 3])
    every_type("expand", (2, 1), newShape=[2, 2, 3])


def pads():
    for label, shape, begin, end, options in [
            ("zeros", (2, 3), [1, 2], [2, 1], {}),
            ("a value", (2, 3), [1, 0], [0, 2], {"value": 2.5}),
            ("minus infinity", (2,), [1], [1], {"value": -INF}),
            ("a value that is rounded", (2,), [0], [1], {"value": 0.1}),
            ("edge", (2, 3), [1, 2], [2, 3], {"mode": "edge"}),
            ("edge, value without a meaning", (3,), [2], [1], {"mode": "edge", "value": 7}),
            ("reflection", (3, 4), [2, 1], [1, 3], {"mode": "reflection"}),
            ("reflection of one direction", (2, 3), [0, 2], [0, 0], {"mode": "reflection"}),
            ("nothing", (2, 2), [0, 0], [0, 0], {"value": 3}),
            ("a scalar", (), [], [], {"value": 3}),
            ("rank 4", (1, 2, 2, 1), [1, 0, 0, 2], [0, 1, 0, 0], {"value": -1}),
            ("edge, rank 3", (2, 1, 3), [0, 2, 1], [1, 0, 0], {"mode": "edge"}),
            ("reflection, rank 3", (2, 3, 3), [1, 0, 2], [1, 2, 0], {"mode": "reflection"}),
            ("rank 8", (1, 2, 1, 1, 2, 1, 1, 1), [0, 0, 1, 0, 0, 0, 0, 1],
             [0, 1, 0, 0, 0, 0, 0, 0], {})]:
        case("pad", f"float32 {label}", input=drawn("pad", label, "float32", shape),
             beginningPadding=begin, endingPadding=end, **({"options": options} if options else {}))
    for mode in ("edge", "reflection"):
        case("pad", f"int64 {mode}", input=drawn("pad", mode, "int64", (2, 3)),
             beginningPadding=[1, 2], endingPadding=[0, 1], options={"mode": mode})
        case("pad", f"uint8 {mode}", input=drawn("pad", mode, "uint8", (3, 2)),
             beginningPadding=[0, 1], endingPadding=[2, 0], options={"mode": mode})
    every_type("pad", (2, 2), beginningPadding=[0, 1], endingPadding=[1, 0], options={"value": 5})
    for value in (1000, -1000):  # is cast to the nearest
        case("pad", f"int8 the value {value}", input=drawn("pad", "beyond", "int8", (2,)),
             beginningPadding=[1], endingPadding=[0], options={"value": value})
    for kind in ("int64", "uint64"):
        case("pad", f"{kind} the largest value", input=drawn("pad", "largest", kind, (2,)),
             beginningPadding=[1], endingPadding=[0], options={"value": RANGES[kind][1]})


def reshapes():
    for label, shape, to in [
            ("to rank 1", (2, 3), [6]), ("to other dimensions", (2, 6), [3, 4]),
            ("to a scalar", (1, 1), []), ("from a scalar", (), [1, 1, 1]),
            ("dimensions of 1", (3, 2), [1, 3, 1, 2, 1]), ("as it is", (2, 3), [2, 3]),
            ("to rank 8", (4, 3), [1, 2, 1, 2, 1, 3, 1, 1])]:
        case("reshape", f"float32 {label}", input=drawn("reshape", label, "float32", shape),
             newShape=to)
    case("reshape", "float32 constant",
         input=drawn("reshape", "constant", "float32", (2, 2)).as_constant(), newShape=[4, 1])
    every_type("reshape", (2, 3), newShape=[3, 2])


def reverses():
    for label, shape, options in [
            ("all axes by default", (2, 3), {}), ("rank 1", (5,), {}), ("a scalar", (), {}),
            ("no axes", (2, 3), {"axes": []}), ("axis 0", (3, 2), {"axes": [0]}),
            ("the last axis", (2, 2, 3), {"axes": [2]}),
            ("axes apart", (2, 2, 3), {"axes": [0, 2]}),
            ("axes in another order", (2, 3, 2), {"axes": [2, 1]}),
            ("rank 8", (1, 2, 1, 3, 1, 1, 2, 1), {"axes": [3, 6]})]:
        case("reverse", f"float32 {label}", input=drawn("reverse", label, "float32", shape),
             **({"options": options} if options else {}))
    every_type("reverse", (2, 3), options={"axes": [1]})


def slices():
    for label, shape, starts, sizes, strides in [
            ("rank 1", (7,), [2], [4], None), ("everything", (2, 3), [0, 0], [2, 3], None),
            ("one element", (3, 4), [1, 2], [1, 1], None), ("rank 2", (3, 4), [1, 0], [2, 3], None),
            ("strides", (5, 7), [1, 0], [4, 7], [2, 3]),
            ("strides that leave a rest", (8,), [1], [6], [4]),
            ("a stride beyond the size", (6,), [2], [3], [5]),
            ("strides of one direction", (3, 6), [0, 1], [3, 5], [1, 2]),
            ("the first of rows", (4, 3), [0, 0], [4, 1], None), ("a scalar", (), [], [], None),
            ("rank 4", (2, 3, 2, 3), [0, 1, 1, 0], [2, 2, 1, 3], [1, 1, 1, 2]),
            ("rank 8", (1, 2, 1, 3, 1, 1, 3, 1), [0, 1, 0, 0, 0, 0, 1, 0], [1, 1, 1, 3, 1, 1, 2, 1],
             [1, 1, 1, 2, 1, 1, 1, 1])]:
        case("slice", f"float32 {label}", input=drawn("slice", label, "float32", shape),
             starts=starts, sizes=sizes, **({"options": {"strides": strides}} if strides else {}))
    every_type("slice", (3, 4), starts=[1, 1], sizes=[2, 3], options={"strides": [1, 2]})


def splits():
    for label, shape, parts, options in [
            ("equal parts", (6,), 3, {}), ("equal parts of axis 1", (2, 4), 2, {"axis": 1}),
            ("one part", (2, 3), 1, {}), ("parts of several sizes", (6, 2), [1, 3, 2], {}),
            ("parts of several sizes of axis 2", (2, 1, 5), [4, 1], {"axis": 2}),
            ("parts of one element", (2, 3), 3, {"axis": 1}), ("a list of one", (4,), [4], {}),
            ("axis 1 of 4", (2, 3, 1, 2), [2, 1], {"axis": 1}),
            ("rank 8", (1, 2, 1, 4, 1, 1, 1, 1), 2, {"axis": 3})]:
        case("split", f"float32 {label}", input=drawn("split", label, "float32", shape),
             splits=parts, **({"options": options} if options else {}))
    every_type("split", (2, 3), splits=[1, 2], options={"axis": 1})


def tiles():
    for label, shape, times in [
            ("rank 1", (3,), [3]), ("rank 2", (2, 3), [2, 2]), ("one direction", (2, 2), [1, 3]),
            ("once", (2, 3), [1, 1]), ("a scalar", (), []),
            ("dimensions of 1", (1, 2, 1), [2, 1, 3]),
            ("rank 4", (1, 2, 1, 2), [2, 2, 1, 2]),
            ("rank 8", (1, 2, 1, 1, 2, 1, 1, 1), [2, 1, 1, 1, 2, 1, 1, 3])]:
        case("tile", f"float32 {label}", input=drawn("tile", label, "float32", shape),
             repetitions=times)
    every_type("tile", (2, 2), repetitions=[2, 3])


def transposes():
    for label, shape, order in [
            ("reversed by default", (2, 3), None), ("rank 3 by default", (2, 3, 4), None),
            ("rank 1", (4,), None), ("a scalar", (), None), ("as it is", (2, 3), [0, 1]),
            ("the first two", (2, 3, 2), [1, 0, 2]), ("a cycle", (2, 3, 4), [1, 2, 0]),
            ("the other cycle", (2, 3, 4), [2, 0, 1]), ("nchw to nhwc", (2, 3, 2, 2), [0, 2, 3, 1]),
            ("nhwc to nchw", (1, 2, 3, 4), [0, 3, 1, 2]),
            ("rank 5", (1, 2, 3, 2, 1), [3, 1, 4, 2, 0]),
            ("rank 8", (1, 2, 1, 3, 1, 1, 2, 1), [6, 7, 3, 1, 0, 2, 4, 5])]:
        case("transpose", f"float32 {label}", input=drawn("transpose", label, "float32", shape),
             **({"options": {"permutation": order}} if order else {}))
    case("transpose", "float32 constant",
         input=drawn("transpose", "constant", "float32", (2, 3)).as_constant())
    every_type("transpose", (2, 3, 2), options={"permutation": [2, 0, 1]})


def triangles():
    for label, shape, options in [
            ("upper by default", (3, 4), {}), ("lower", (4, 3), {"upper": False}),
            ("upper, diagonal 1", (3, 4), {"diagonal": 1}),
            ("upper, diagonal -2", (4, 4), {"diagonal": -2}),
            ("lower, diagonal 2", (3, 5), {"upper": False, "diagonal": 2}),
            ("lower, diagonal -1", (4, 3), {"upper": False, "diagonal": -1}),
            ("nothing is left", (2, 3), {"diagonal": 3}),
            ("everything is left", (2, 3), {"upper": False, "diagonal": 5}),
            ("far below", (2, 3), {"diagonal": -2147483648}),
            ("far above", (2, 3), {"diagonal": 2147483647}),
            ("rank 3", (2, 3, 2), {"upper": False}), ("one row", (1, 4), {"diagonal": 2}),
            ("rank 8", (1, 2, 1, 1, 1, 1, 2, 3), {"diagonal": 1})]:
        case("triangular", f"float32 {label}", input=drawn("triangular", label, "float32", shape),
             **({"options": options} if options else {}))
    every_type("triangular", (3, 3), options={"upper": False, "diagonal": -1})
    case("triangular", "float32 what is left out leaves no trace",
         input=Tensor("float32", [[1.0, NAN], [INF, 2.0]]), options={"upper": False})


def make():
    for family in (concats, expands, pads, reshapes, reverses, slices, splits, tiles, transposes,
                   triangles):
        family()
