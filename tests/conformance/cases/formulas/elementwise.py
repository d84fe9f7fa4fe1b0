"""Arithmetic, comparison and logic of two operands, and the choice between two."""
import operator

import numpy as np

from .core import FLOATS, INF, INTEGERS, NAN, RANGES, Graph, Numbers, Tensor, case
from .core import formula, ulp


def truncated(a, b):
    """The quotient of integers, towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply,
    "max": np.maximum, "min": np.minimum, "div": np.divide, "pow": np.power,
}
COMPARISON = {
    "equal": operator.eq, "notEqual": operator.ne, "greater": operator.gt,
    "greaterOrEqual": operator.ge, "lesser": operator.lt, "lesserOrEqual": operator.le,
}
LOGIC = {
    "logicalAnd": lambda a, b: a and b, "logicalOr": lambda a, b: a or b,
    "logicalXor": lambda a, b: a != b,
}


def each(function, *arrays):
    """`function` of each element, as Python's numbers."""
    return np.frompyfunc(function, len(arrays), 1)(*arrays)


@formula("add", "sub", "mul", tolerance=ulp(1))
@formula("div", tolerance=ulp(2))
@formula("max", "min", tolerance=ulp(0))
@formula("pow", tolerance=ulp(32, 2))
def arithmetic(op, a, b):
    if a.kind not in FLOATS and op == "div":
        return Tensor(a.kind, each(truncated, a.a, b.a))
    return Tensor(a.kind, ARITHMETIC[op](a.a, b.a))


@formula(*COMPARISON)
def comparison(op, a, b):
    return Tensor("uint8", each(lambda x, y: int(COMPARISON[op](x, y)), a.a, b.a))


@formula(*LOGIC)
def logic(op, a, b):
    return Tensor("uint8", each(lambda x, y: int(LOGIC[op](x != 0, y != 0)), a.a, b.a))


@formula("where")
def where(condition, trueValue, falseValue):
    return Tensor(trueValue.kind, np.where(condition.a != 0, trueValue.a, falseValue.a))


def operands(op, numbers, kind, shape_a, shape_b):
    """Two tensors whose result is defined, in the type's range, and does not nearly cancel."""
    if kind in FLOATS:
        low = 0.25 if op in ("div", "pow", "add") else -4
        a = numbers.decimals(low, 4, kind, shape_a)
        if op == "sub":
            a = numbers.decimals(-9, -5, kind, shape_a)
        return a, numbers.decimals(low, 3, kind, shape_b)
    low, high = RANGES[kind]
    if op == "pow":
        return (numbers.whole(max(low, -3), 3, kind, shape_a),
                numbers.whole(0, 4, kind, shape_b))
    a = numbers.whole(max(low, -11), 11, kind, shape_a)
    if op == "sub":
        a = numbers.whole(max(low + 5, 9), 40, kind, shape_a)
    b = numbers.whole(max(low, -7), 7, kind, shape_b)
    if op == "div":
        a = numbers.whole(max(low, -100), 100, kind, shape_a)
        b.a[...] = each(lambda x: x or 3, b.a)
    return a, b


def extremes(op, kind):
    """Two tensors of numbers at the ends of the type's range, with results in it."""
    low, high = RANGES[kind]
    root = 1 << ((high.bit_length() - 1) // 2)
    a, b = {
        "add": ([high, high - 1, low, low + 1, low, high], [0, 1, 0, high, high, low]),
        "sub": ([high, high, low, low + 5, high], [0, high, 0, 5, 1]),
        "mul": ([high, low, root, root - 1, high // 3], [1, 1, root, root + 1, 3]),
        "div": ([high, low, high, low, high - 1, low, 1], [1, 1, high, 3, 2, high, high]),
        "max": ([high, low, low, high - 1, 0], [low, high, low, high, 1]),
        "min": ([high, low, low, high - 1, 0], [low, high, low, high, 1]),
        "pow": ([high, low, 2, 0, 1, 3], [1, 1, high.bit_length() - 1, 0, 60, 3]),
    }.get(op, ([high, high, low, low, high - 1, low + 1, 0], [high, low, low, high, high, low, 0]))
    if op in ARITHMETIC and op != "div":
        exact = ARITHMETIC[op](np.array(a, object), np.array(b, object))
        fits = [low <= x <= high for x in exact]
        a, b = ([x for x, fit in zip(list_, fits) if fit] for list_ in (a, b))
    return Tensor(kind, a), Tensor(kind, b)


SPECIAL = {
    "add": ([INF, -INF, INF, NAN, 1.0, -0.0, 3e38], [1.0, -INF, -INF, 1.0, NAN, -0.0, 3e38]),
    "sub": ([INF, -INF, INF, NAN, 1.0, 0.0, -3e38], [1.0, INF, INF, 1.0, NAN, 0.0, 3e38]),
    "mul": ([INF, -INF, 0.0, NAN, -2.0, 3e38, -1e-30], [2.0, 3.0, INF, 0.0, INF, 3e38, 1e-30]),
    "div": ([1.0, -1.0, 0.0, INF, INF, NAN, 5.0, 1.0], [0.0, 0.0, 0.0, INF, -2.0, 1.0, INF, -0.0]),
    "max": ([INF, -INF, -INF, 3e38, 0.0], [1.0, 1.0, -INF, INF, 1e-30]),
    "min": ([INF, -INF, INF, 3e38, 0.0], [1.0, 1.0, INF, INF, -1e-30]),
    "pow": ([2.0, -2.0, -2.0, 0.0, INF, 2.0, 2.0, -0.5, 9.0, 5.0, 10.0],
            [INF, 3.0, 2.0, 0.0, 0.5, -INF, -1.0, -3.0, 0.5, 0.0, 39.0]),
}
COMPARED = ([NAN, NAN, 1.0, INF, INF, -INF, 0.0, -0.0, 1.0, 3e38],
            [NAN, 1.0, NAN, INF, 3e38, -INF, -0.0, 0.0, 1.0000001, 3e38])

# name, shapes of a and b
SHAPES = [
    ("same shape", (2, 5), (2, 5)),
    ("b of lower rank", (2, 3, 3), (3,)),
    ("a of lower rank", (3, 1), (2, 3, 2)),
    ("scalars", (), ()),
    ("both are spread", (2, 1, 3, 1), (4, 1, 2)),
    ("b is a scalar", (2, 2, 2), ()),
    ("a is a scalar", (), (5,)),
    ("rank 7 and 8", (2, 1, 1, 1, 1, 1, 2), (1, 1, 1, 1, 2, 1, 1, 1)),
    ("rank 8", (1, 2, 1, 1, 3, 1, 2, 1), (2, 1, 1, 1, 1, 1, 2)),
]


def draw(op, numbers, kind, shape_a, shape_b):
    if op in LOGIC:
        zeros = numbers.whole(0, 1, kind, shape_a), numbers.whole(0, 1, kind, shape_b)
        ones = numbers.whole(1, 255, kind, shape_a), numbers.whole(1, 255, kind, shape_b)
        return [Tensor(kind, z.a * o.a) for z, o in zip(zeros, ones)]
    if op in COMPARISON:
        low = 0 if kind.startswith("u") else -2
        return (numbers.whole(low, 2, kind, shape_a), numbers.whole(low, 2, kind, shape_b))
    return operands(op, numbers, kind, shape_a, shape_b)


def of_two(op):
    """The cases of an operator of two operands."""
    def add(name, kind, a, b):
        case(op, f"{kind} {name}", a=a, b=b)

    main = "uint8" if op in LOGIC else "float32"
    few = op not in ("add", "sub", "mul", "div", "pow")  # have the same ways to broadcast
    for name, shape_a, shape_b in SHAPES[::2] if few else SHAPES:
        kind = "float16" if name in ("both are spread",) and op not in LOGIC else main
        numbers = Numbers(f"{op} {name}")
        add(name, kind, *draw(op, numbers, kind, shape_a, shape_b))
    numbers = Numbers(f"{op} constants")
    a, b = draw(op, numbers, main, (3, 2), (3, 1))
    add("b is constant", main, a, b.as_constant())
    if not few:
        a, b = draw(op, numbers, main, (4, 1), (3,))
        add("a is constant", main, a.as_constant(), b)
        a, b = draw(op, numbers, main, (2, 1), (2, 3))
        add("both are constant", main, a.as_constant(), b.as_constant())
    same = draw(op, numbers, main, (7,), (7,))[1]
    add("the same operand twice", main, same, same)
    if op in ("mul", "div"):  # a small change, but more than the tolerance
        near = Tensor("float32", [1.000001], constant=True)
        add("b is a constant close to 1", main, numbers.decimals(1, 8, main, (5,)), near)
    if op in LOGIC:
        add("every pair of truths", main, Tensor(main, [0, 0, 1, 2, 255, 0], (6,)),
            Tensor(main, [0, 128, 0, 1, 254, 0], (6,)))
        return
    a, b = draw(op, numbers, "float16", (3, 3), (3,))
    add("same last dimension", "float16", a, b)
    for kind in INTEGERS:
        if kind in ("int32", "uint8") or (kind == "int64" and not few):
            a, b = draw(op, numbers, kind, (2, 3), (2, 1))
            add("b is spread", kind, a, b)
        add("at the ends of the range", kind, *extremes(op, kind))
    a, b = SPECIAL.get(op, COMPARED)
    add("not all finite", "float32", Tensor("float32", a), Tensor("float32", b))
    keep = [i for i in range(len(a)) if not 0 < abs(a[i]) < 1e-7 and not 0 < abs(b[i]) < 1e-7]
    add("not all finite", "float16", Tensor("float16", [a[i] for i in keep]),
        Tensor("float16", [b[i] for i in keep]))


def choice():
    """The cases of where."""
    shapes = [
        ("same shape", (2, 3), (2, 3), (2, 3)),
        ("condition of lower rank", (4,), (2, 3, 4), (2, 3, 4)),
        ("values of lower rank", (2, 3, 4), (3, 1), (4,)),
        ("each spread in another dimension", (2, 1, 1), (1, 3, 1), (1, 1, 4)),
        ("condition is a scalar", (), (3,), (2, 1)),
        ("values are scalars", (2, 4), (), ()),
        ("all scalars", (), (), ()),
        ("rank 8", (1, 2, 1, 1, 3, 1, 1, 1), (1, 1, 1, 2, 1, 1, 1, 2), (2, 1)),
    ]
    for (name, c, t, f), kind in zip(shapes, ("float32", "float32", "float16", "float32", "int32",
                                              "float32", "float32", "float16")):
        numbers = Numbers(f"where {name}")
        case("where", f"{kind} {name}", condition=numbers.whole(0, 1, "uint8", c),
             trueValue=numbers.any(kind, t), falseValue=numbers.any(kind, f))
    for kind in INTEGERS:
        low, high = RANGES[kind]
        case("where", f"{kind} at the ends of the range",
             condition=Tensor("uint8", [0, 1, 2, 255, 0, 128]),
             trueValue=Tensor(kind, [high, high, low, high - 1, 1, 2]),
             falseValue=Tensor(kind, [low, low, high, low, high, low + 1]))
    numbers = Numbers("where constants")
    case("where", "float32 a NaN that is not chosen leaves no trace",
         condition=Tensor("uint8", [1, 0, 1, 0]),
         trueValue=Tensor("float32", [1.5, NAN, INF, -INF]),
         falseValue=Tensor("float32", [NAN, -2.5, INF, 0.25]))
    case("where", "float32 condition is constant",
         condition=numbers.whole(0, 1, "uint8", (3, 2)).as_constant(),
         trueValue=numbers.any("float32", (3, 2)), falseValue=numbers.any("float32", (2,)))
    case("where", "float32 a value is constant", condition=numbers.whole(0, 2, "uint8", (5,)),
         trueValue=numbers.any("float32", (5,)),
         falseValue=Tensor("float32", -1000.5).as_constant())
    graph = Graph("where", "float32 the same operand twice")
    value = graph.input("value", numbers.any("float32", (2, 2)))
    chosen = graph.call("where", {"condition": numbers.whole(0, 1, "uint8", (2, 2)),
                                  "trueValue": value, "falseValue": value}, "output")
    graph.output(chosen)


def make():
    for op in (*ARITHMETIC, *COMPARISON, *LOGIC):
        of_two(op)
    choice()
