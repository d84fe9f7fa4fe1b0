"""Elements and slices picked, replaced and changed by number. No place is written twice, as its
result is not specified, except by scatterReduce."""
import itertools

import numpy as np

from .core import INF, NAN, Numbers, Tensor, case, formula

INDEX_TYPES = ("int32", "uint32", "int64")
MOVED_TYPES = ("int64", "uint32", "uint8")  # one of each size; of 2 bytes is float16


def place(index, size):
    """Negative ones count from the end; those out of range are clamped."""
    index = index + size if index < 0 else index
    return min(max(index, 0), size - 1)


@formula("gather")
def gather(input, indices, axis=0):
    x = np.moveaxis(input.a, axis, 0)
    shape = input.shape[:axis] + indices.shape + input.shape[axis + 1:]
    picked = [x[place(i, input.shape[axis])] for i in indices.a.ravel()]
    stacked = np.stack(picked, axis=0).reshape(indices.shape + x.shape[1:])
    moved = np.moveaxis(stacked, range(indices.a.ndim), range(axis, axis + indices.a.ndim))
    return Tensor(input.kind, moved.reshape(shape))


def along(shape, indices, axis):
    """The place in the input for each of the indices, and that in the indices."""
    for at in itertools.product(*map(range, indices.shape)):
        there = list(at)
        there[axis] = place(indices.a[at], shape[axis])
        yield tuple(there), at


@formula("gatherElements")
def gather_elements(input, indices, axis=0):
    result = np.empty(indices.shape, dtype=object)
    for there, at in along(input.shape, indices, axis):
        result[at] = input.a[there]
    return Tensor(input.kind, result)


@formula("scatterElements")
def scatter_elements(input, indices, updates, axis=0):
    result, written = input.a.copy(), set()
    for there, at in along(input.shape, indices, axis):
        result[there] = updates.a[at]
        assert there not in written, "written twice"
        written.add(there)
    return Tensor(input.kind, result)


def coordinates(shape, indices):
    for at in itertools.product(*map(range, indices.shape[:-1])):
        yield tuple(place(i, n) for i, n in zip(indices.a[at], shape)), at


@formula("gatherND")
def gather_nd(input, indices):
    depth = indices.shape[-1]
    result = np.empty(indices.shape[:-1] + input.shape[depth:], dtype=object)
    for there, at in coordinates(input.shape, indices):
        result[at] = input.a[there]
    return Tensor(input.kind, result)


@formula("scatterND")
def scatter_nd(input, indices, updates):
    result, written = input.a.copy(), set()
    for there, at in coordinates(input.shape, indices):
        result[there] = updates.a[at]
        assert there not in written, "written twice"
        written.add(there)
    return Tensor(input.kind, result)


REDUCTIONS = {"add": lambda a, b: a + b, "multiply": lambda a, b: a * b,
              "max": np.maximum, "min": np.minimum}  # NaN if one is NaN


@formula("scatterReduce")
def scatter_reduce(input, indices, updates, reduction="add"):
    result = input.a.copy()
    for there, at in coordinates(input.shape, indices):
        result[there] = REDUCTIONS[reduction](result[there], updates.a[at])
    return Tensor(input.kind, result)


def drawn_indices(numbers, kind, size, shape):
    low = 0 if kind == "uint32" else -size
    return numbers.whole(low, size - 1, kind, shape)


def gathers():
    def add(label, shape, indices, axis=0, kind="float32", index="int32", values=None,
            constant=False):
        numbers = Numbers(f"gather {label}")
        picked = Tensor(index, values, indices) if values is not None else drawn_indices(
            numbers, index, shape[axis], indices)
        case("gather", f"{kind} {label}", input=numbers.distinct(kind, shape),
             indices=picked.as_constant() if constant else picked,
             **({"options": {"axis": axis}} if axis else {}))
    add("rank 1", (7,), (5,))
    add("a scalar index", (4, 3), ())
    add("a scalar index of axis 1", (2, 4, 2), (), axis=1, index="uint32")
    add("a scalar of rank 1", (5,), (), index="int64")
    add("rows", (4, 3), (5,))
    add("columns", (3, 5), (2,), axis=1)
    add("indices of rank 2", (5, 2), (2, 3))
    add("indices of rank 2, axis 1", (2, 4, 3), (3, 2), axis=1)
    add("the last axis", (2, 2, 5), (2, 2), axis=2, kind="float16")
    add("indices of rank 4", (3, 2), (1, 2, 1, 3), index="int64")
    add("rank 8", (1, 2, 1, 1, 3, 1, 1, 2), (2,), axis=4)
    add("constant indices", (4, 3), (3,), constant=True)
    add("constant indices, axis 1", (2, 4), (2, 1), axis=1, constant=True, index="int64")
    add("the ends", (4, 2), (4,), values=[0, -1, 3, -4])
    add("out of range", (3, 2), (4,), values=[3, -4, 2147483647, -2147483648])
    add("out of range, int64", (3, 2), (2,), index="int64", values=[1 << 40, -(1 << 40)])
    add("out of range, uint32", (3, 2), (2,), index="uint32", values=[(1 << 32) - 1, 3])
    for index in INDEX_TYPES:
        add(f"{index} indices", (5, 2), (3,), index=index)
    for kind in MOVED_TYPES:
        add("axis 1", (2, 4), (3,), axis=1, kind=kind)


def elements():
    def add(op, label, shape, count, axis=0, kind="float32", index="int32", values=None,
            constant=False):
        numbers = Numbers(f"{op} {label}")
        size, over = shape[axis], list(shape)
        over[axis] = count
        if values is None and op == "gatherElements":
            indices = drawn_indices(numbers, index, size, over)
        elif values is None:  # along the axis each once
            lists = np.empty(over, dtype=object)
            moved = np.moveaxis(lists, axis, -1)
            for at in np.ndindex(*moved.shape[:-1]):
                moved[at] = [i - size if index != "uint32" and numbers.below(2) else i
                             for i in numbers.picked(count, size)]
            indices = Tensor(index, lists)
        else:
            indices = Tensor(index, values, over)
        given = {"input": numbers.distinct(kind, shape),
                 "indices": indices.as_constant() if constant else indices}
        if op == "scatterElements":
            given["updates"] = Tensor(kind, numbers.whole(101, 120, kind, over).a)
        case(op, f"{kind} {label}", **given, **({"options": {"axis": axis}} if axis else {}))
    for op in ("gatherElements", "scatterElements"):
        add(op, "rank 1", (6,), 4)
        add(op, "axis 0", (4, 3), 2)
        add(op, "axis 1", (3, 4), 3, axis=1)
        add(op, "axis 1 of 3", (2, 4, 3), 2, axis=1)
        add(op, "the last axis of 4", (2, 1, 2, 4), 3, axis=3)
        add(op, "rank 8", (1, 2, 1, 1, 3, 1, 2, 1), 2, axis=4)
        add(op, "one index", (3, 2), 1)
        add(op, "as many as there are", (2, 4), 4, axis=1)
        add(op, "constant indices", (4, 2), 3, constant=True)
        add(op, "half", (3, 3), 2, kind="float16")
        add(op, "the ends", (4,), 2, values=[-1, 0])
        add(op, "the other ends", (4,), 2, values=[-4, 3])
        add(op, "out of range", (4,), 2, values=[4, -2147483648])
        for index in INDEX_TYPES:
            add(op, f"{index} indices", (4, 2), 2, index=index)
        for kind in MOVED_TYPES:
            add(op, "axis 1 of 2", (2, 3), 2, axis=1, kind=kind)
    add("gatherElements", "more than there are", (2, 3), 5)
    add("gatherElements", "more than there are, axis 1", (3, 2), 4, axis=1, index="int64")


def tuples():
    def add(op, label, shape, outer, depth, kind="float32", index="int32", values=None,
            constant=False):
        numbers = Numbers(f"{op} {label}")
        count = int(np.prod(outer, dtype=int))
        if values is None:
            total = int(np.prod(shape[:depth], dtype=int))
            flat = numbers.picked(count, total) if op == "scatterND" else [
                numbers.below(total) for _ in range(count)]
            rows = [list(np.unravel_index(i, shape[:depth])) for i in flat]
            values = [[int(i) - n if index != "uint32" and numbers.below(2) else int(i)
                       for i, n in zip(row, shape)] for row in rows]
        indices = Tensor(index, values, (*outer, depth))
        given = {"input": numbers.distinct(kind, shape),
                 "indices": indices.as_constant() if constant else indices}
        if op == "scatterND":
            given["updates"] = numbers.whole(101, 120, kind, (*outer, *shape[depth:]))
        case(op, f"{kind} {label}", **given)
    for op in ("gatherND", "scatterND"):
        add(op, "elements of rank 1", (7,), (4,), 1)
        add(op, "elements of rank 2", (3, 4), (5,), 2)
        add(op, "rows of rank 2", (4, 3), (2,), 1)
        add(op, "matrices of rank 3", (3, 2, 2), (2,), 1)
        add(op, "rows of rank 3", (2, 3, 2), (3,), 2)
        add(op, "elements of rank 3", (2, 3, 2), (4,), 3)
        add(op, "indices of rank 3", (4, 3), (2, 2), 2)
        add(op, "indices of rank 3, rows", (5, 2), (2, 2), 1)
        add(op, "indices of rank 1", (3, 2), (), 2)
        add(op, "indices of rank 1, a row", (3, 2), (), 1)
        add(op, "rank 8", (1, 2, 1, 1, 3, 1, 1, 2), (2,), 5)
        add(op, "constant indices", (4, 2), (2,), 1, constant=True)
        add(op, "half", (3, 3), (3,), 2, kind="float16")
        add(op, "the ends", (3, 4), (2,), 2, values=[[-1, 0], [0, -4]])
        add(op, "out of range", (3, 4), (2,), 2, values=[[3, -5], [-4, 2147483647]])
        for index in INDEX_TYPES:
            add(op, f"{index} indices", (4, 2), (2,), 1, index=index)
        for kind in MOVED_TYPES:
            add(op, "rows", (3, 2), (2,), 1, kind=kind)


def into_slices():
    def add(label, kind, shape, coordinates, index="int32", **options):
        numbers = Numbers(f"scatterReduce {label}")
        indices = Tensor(index, coordinates)
        depth = indices.shape[-1]
        updates = numbers.whole(1, 5, kind, (*indices.shape[:-1], *shape[depth:]))
        case("scatterReduce", f"{kind} {label}", input=numbers.whole(1, 9, kind, shape),
             indices=indices, updates=updates, **({"options": options} if options else {}))
    several = [[0], [2], [0], [-1], [2]]
    add("the sum by default", "float32", (4,), several)
    for reduction in REDUCTIONS:
        for kind in ("float32", "float16", "int32", "int64", "uint8"):
            add(reduction, kind, (4,), several, reduction=reduction)
        add(f"{reduction} of rows", "float32", (3, 4), [[1], [1], [0]], reduction=reduction)
    add("elements of rank 2", "float32", (2, 3), [[1, 2], [0, 0], [-1, -1]], index="int64")
    add("indices of rank 3", "float32", (3, 2), [[[0], [1]], [[0], [0]]], index="uint32")
    add("one coordinate", "float32", (3, 2), [1, 0])
    add("out of range", "float32", (3,), [[7], [-9], [2]])
    add("one place", "float16", (1, 2), [[0]] * 40)
    where = {"indices": Tensor("int32", [[0], [0], [1]])}
    for reduction in REDUCTIONS:
        case("scatterReduce", f"float32 special numbers, {reduction}", **where,
             input=Tensor("float32", [1.0, 0.5]), options={"reduction": reduction},
             updates=Tensor("float32", [INF, 2.0, -INF]))
        case("scatterReduce", f"float32 no number, {reduction}", **where,
             input=Tensor("float32", [1.0, 0.5]), options={"reduction": reduction},
             updates=Tensor("float32", [2.0, NAN, 4.0]))


def make():
    gathers()
    elements()
    tuples()
    into_slices()
