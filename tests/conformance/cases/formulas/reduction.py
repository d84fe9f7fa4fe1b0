"""Reductions along axes, the places of extremes, and sums along the way."""
import math

import numpy as np

from .core import FLOATS, INF, INTEGERS, RANGES, Numbers, Tensor, case, formula, ulp

WIDE = ("float32", "float16", "int32", "uint32", "int64", "uint64")
# By operator: function of a list of numbers, places per term and beside, types.
REDUCTIONS = {
    "reduceL1": (lambda v: sum(map(abs, v)), 1, 0, WIDE),
    "reduceL2": (lambda v: math.sqrt(math.fsum(x * x for x in v)), 2, 1, FLOATS),
    "reduceLogSum": (lambda v: math.log(math.fsum(v)), 1, 18, FLOATS),
    "reduceLogSumExp": (
        lambda v: max(v) + math.log(math.fsum(math.exp(x - max(v)) for x in v)), 2, 18, FLOATS),
    "reduceMax": (max, 0, 0, FLOATS + INTEGERS),
    "reduceMean": (lambda v: math.fsum(v) / len(v), 1, 2, FLOATS),
    "reduceMin": (min, 0, 0, FLOATS + INTEGERS),
    "reduceProduct": (math.prod, 1, 0, WIDE),
    "reduceSum": (sum, 1, 0, WIDE),
    "reduceSumSquare": (lambda v: sum(x * x for x in v), 2, 0, WIDE),
}
PLACES = {
    "argMin": lambda v: v.index(min(v)),
    "argMax": lambda v: v.index(max(v)),
}


def along(array, axes, function, keep):
    """`function` of the elements along axes: a list, in row-major order."""
    rest = [d for d in range(array.ndim) if d not in axes]
    moved = array.transpose(rest + list(axes))
    lists = moved.reshape(math.prod(moved.shape[:len(rest)]), -1).tolist()
    shape = [array.shape[d] for d in rest]
    if keep:
        shape = [1 if d in axes else n for d, n in enumerate(array.shape)]
    result = np.empty(len(lists), dtype=object)
    result[:] = [function(values) for values in lists]
    return result.reshape(shape)


def tolerance_of(op):
    def tolerance(input, axes=None, **_):
        dims = range(input.a.ndim) if axes is None else axes
        count = math.prod(input.shape[d] for d in dims)
        return ulp(REDUCTIONS[op][1] * count + REDUCTIONS[op][2])
    return tolerance


def reduce(op, input, axes=None, keepDimensions=False):
    axes = range(input.a.ndim) if axes is None else axes
    return Tensor(input.kind, along(input.a, sorted(axes), REDUCTIONS[op][0], keepDimensions))


for name_ in REDUCTIONS:
    formula(name_, tolerance=tolerance_of(name_))(reduce)


@formula(*PLACES)
def place(op, input, axis, keepDimensions=False, outputDataType="int32"):
    return Tensor(outputDataType, along(input.a, [axis], PLACES[op], keepDimensions))


@formula("topK")
def top_k(input, k, axis, largest=True):
    """An extension: WebNN has no such operator."""
    def order(values):
        return sorted(range(len(values)), key=lambda i: (-values[i] if largest else values[i], i))
    ranked = along(input.a, [axis], order, False)
    places = np.array([line[:k] for line in ranked.ravel().tolist()], dtype=object)
    shape = [n for d, n in enumerate(input.shape) if d != axis] + [k]
    return Tensor("int64", np.moveaxis(places.reshape(shape), -1, axis))


@formula("cumulativeSum", tolerance=lambda input, axis, **_: ulp(input.shape[axis]))
def cumulative_sum(input, axis, exclusive=False, reversed=False):
    x = np.flip(input.a, axis) if reversed else input.a
    sums = np.cumsum(x, axis=axis)
    if exclusive:
        sums = sums - x
    return Tensor(input.kind, np.flip(sums, axis) if reversed else sums)


SHAPES = [
    # label, type, shape, options
    ("all axes by default", "float32", (2, 3, 4), {}),
    ("all axes by default", "float16", (3, 2), {}),
    ("all axes, dimensions kept", "float32", (3, 4), {"keepDimensions": True}),
    ("axis 0", "float32", (3, 2, 2), {"axes": [0]}),
    ("axis 1", "float32", (2, 3, 4), {"axes": [1]}),
    ("axis 1", "float16", (2, 3, 2), {"axes": [1]}),
    ("the last axis", "float32", (3, 5), {"axes": [1], "keepDimensions": False}),
    ("the last axis, kept", "float32", (2, 3, 3), {"axes": [2], "keepDimensions": True}),
    ("axes apart", "float32", (2, 3, 3), {"axes": [0, 2]}),
    ("axes in another order, kept", "float16", (2, 3, 2), {"axes": [2, 0], "keepDimensions": True}),
    ("no axes", "float32", (2, 3), {"axes": []}),
    ("no axes, kept", "float16", (3,), {"axes": [], "keepDimensions": True}),
    ("a scalar", "float32", (), {}),
    ("a scalar, no axes", "float32", (), {"axes": [], "keepDimensions": True}),
    ("rank 8", "float32", (1, 2, 1, 2, 1, 3, 1, 2), {"axes": [1, 3, 5]}),
    ("dimensions of 1", "float32", (1, 3, 1), {"axes": [0, 2]}),
    ("more than a vector", "float32", (2, 19), {"axes": [1]}),
]


def draw(op, label, kind, shape):
    numbers = Numbers(f"{op} {label}")
    if op == "reduceProduct":
        if kind in FLOATS:  # factors about 1; powers of two are exact
            return Tensor(kind, 2.0 ** numbers.whole(-1, 1, "int32", shape).a.astype(float))
        return numbers.whole(1, 3, kind, shape)
    if op in ("reduceLogSum", "reduceLogSumExp"):
        return numbers.eighths(2, 5, kind, shape)
    if kind in FLOATS:
        return numbers.eighths(0 if op == "reduceMean" else -4, 4, kind, shape)
    return numbers.any(kind, shape)


def extremes(op, kind):
    low, high = RANGES[kind]
    if op in ("reduceMax", "reduceMin"):
        return Tensor(kind, [[low, high, 0], [high - 1, low + 1, 1]])
    if op == "reduceSumSquare":
        return Tensor(kind, [[1 << 14, 3, 0], [1, 2, 1 << 13]])
    if op == "reduceProduct":
        return Tensor(kind, [[high, 1, 1], [low, 1, 1]])
    return Tensor(kind, [[high - 7, 3, 4], [low, 5, 0]] if op == "reduceSum" or low == 0 else
                  [[high - 7, 3, 4], [-high, 0, 0]])


def reductions():
    for op, (_, _, _, kinds) in REDUCTIONS.items():
        thorough = op in ("reduceSum", "reduceMax", "reduceL2")  # one of each way to reduce
        for label, kind, shape, options in SHAPES if thorough else SHAPES[::2]:
            given = {"input": draw(op, label, kind, shape)}
            case(op, f"{kind} {label}", **given, **({"options": options} if options else {}))
        case(op, "float32 constant", options={"axes": [1]},
             input=draw(op, "constant", "float32", (2, 3)).as_constant())
        for kind in kinds[2:]:
            if thorough:
                case(op, f"{kind} two axes of three", options={"axes": [2, 1]},
                     input=draw(op, "two axes of three", kind, (3, 2, 2)))
            case(op, f"{kind} at the ends of the range", options={"axes": [1]},
                 input=extremes(op, kind))
    for op in ("reduceMax", "reduceMin"):
        case(op, "float32 infinities", input=Tensor("float32", [[INF, 1.0], [-INF, -3e38]]),
             options={"axes": [1]})
    case("reduceSum", "float32 numbers that are rounded", options={"axes": [0]},
         input=Numbers("reduceSum rounded").decimals(0, 1, "float32", (5, 3)))
    case("reduceProduct", "float32 numbers that are rounded", options={"axes": [0]},
         input=Numbers("reduceProduct rounded").decimals(0.5, 2, "float32", (5, 3)))
    case("reduceProduct", "float32 signs", options={"axes": [1]},
         input=Tensor("float32", [[-2.0, 3.0, -0.5], [-1.0, 4.0, 0.25], [0.0, -2.0, 8.0]]))
    case("reduceLogSumExp", "float32 large numbers", options={"axes": [1]},
         input=Tensor("float32", [[200.0, 201.0], [-200.0, -201.0]]))
    case("reduceLogSumExp", "float16 large numbers", options={"axes": [1]},
         input=Tensor("float16", [[60.0, 61.0], [-60.0, -61.0]]))
    for kind in FLOATS:  # e to the power of these is beyond float16, and of the first beyond float32
        case("reduceLogSumExp", f"{kind} one number far from 0", options={"axes": [1]},
             input=Tensor(kind, [[100.0], [-100.0]]))
    case("reduceL2", "float32 three and four", input=Tensor("float32", [-3.0, 4.0]))


def places():
    for op in PLACES:
        def add(label, kind, shape, axis, **options):
            case(op, f"{kind} {label}", input=Numbers(f"{op} {label}").distinct(kind, shape),
                 axis=axis, **({"options": options} if options else {}))
        add("rank 1", "float32", (7,), 0)
        add("axis 0", "float32", (3, 4), 0)
        add("axis 1", "float32", (3, 4), 1)
        add("axis 1 of 3", "float16", (2, 4, 3), 1)
        add("dimensions kept", "float32", (2, 4, 3), 1, keepDimensions=True)
        add("the last axis, kept", "float16", (2, 5), 1, keepDimensions=True)
        add("int64 results", "float32", (2, 3, 2), 2, outputDataType="int64")
        add("int64 results, kept", "float32", (5, 2), 0, outputDataType="int64",
            keepDimensions=True)
        add("rank 8", "float32", (1, 2, 1, 1, 3, 1, 2, 1), 4)
        add("a dimension of 1", "float32", (2, 1, 3), 1)
        for kind in INTEGERS:
            low, high = RANGES[kind]
            case(op, f"{kind} at the ends of the range",
                 input=Tensor(kind, [[low + 1, low, high - 1, high, 1]]), axis=1)
        case(op, "float32 the first of equals", input=Tensor(
            "float32", [[1, 3, 1, 3], [2, 2, 2, 2], [0, -1, -1, 0]]), axis=1)
        case(op, "float32 infinities", input=Tensor("float32", [[1.0, INF, -INF], [-INF, 3e38, 0]]),
             axis=1)


def sums():
    def add(label, kind, shape, axis, **options):
        numbers = Numbers(f"cumulativeSum {label}")
        drawn = numbers.eighths(-3, 3, kind, shape) if kind in FLOATS else numbers.any(kind, shape)
        if kind.startswith("u"):
            drawn = numbers.whole(0, 9, kind, shape)
        case("cumulativeSum", f"{kind} {label}", input=drawn, axis=axis,
             **({"options": options} if options else {}))
    for kind in WIDE:
        if kind in FLOATS:
            add("inclusive", kind, (2, 4), 1)
            add("exclusive", kind, (2, 4), 1, exclusive=True)
            add("reversed", kind, (3, 2), 0, reversed=True)
        add("exclusive and reversed", kind, (2, 3, 2), 1, exclusive=True, reversed=True)
    add("rank 1", "float32", (9,), 0)
    add("the first axis", "float32", (4, 3), 0)
    add("rank 8", "float32", (1, 2, 1, 1, 3, 1, 2, 1), 4, exclusive=True)
    add("a dimension of 1", "float32", (3, 1), 1, exclusive=True)
    case("cumulativeSum", "int64 beyond 32 bits",
         input=Tensor("int64", [1 << 62, 5, -(1 << 61)]), axis=0)


def best():
    def add(label, kind, shape, k, axis, **options):
        case("topK", f"{kind} {label}", input=Numbers(f"topK {label}").distinct(kind, shape),
             k=k, axis=axis, **({"options": options} if options else {}))
    add("rank 1", "float32", (7,), 3, 0)
    add("axis 0", "float32", (5, 4), 2, 0)
    add("the last axis, smallest", "float16", (2, 6), 3, 1, largest=False)
    add("a middle axis", "float32", (2, 5, 3), 4, 1)
    add("rank 8", "float32", (1, 2, 1, 1, 3, 1, 2, 1), 2, 4)
    add("more than are kept at once", "float32", (200,), 5, 0)
    for kind in INTEGERS:
        low, high = RANGES[kind]
        case("topK", f"{kind} at the ends of the range",
             input=Tensor(kind, [[low + 1, low, high - 1, high, 1]]), k=5, axis=1)
    case("topK", "float32 the first of equals", k=3, axis=1,
         input=Tensor("float32", [[1, 3, 1, 3], [2, 2, 2, 2], [0, -1, -1, 0]]))
    case("topK", "float32 infinities", k=3, axis=1,
         input=Tensor("float32", [[-INF, 1.0, -INF, -INF], [INF, 3e38, INF, 0]]))
    case("topK", "float32 infinities, smallest", k=3, axis=1, options={"largest": False},
         input=Tensor("float32", [[-INF, 1.0, -INF, -INF], [INF, 3e38, INF, 0]]))


def make():
    reductions()
    places()
    sums()
    best()
