"""Activations: functions of each element with options, and softmax."""
import math

import numpy as np

from .core import FLOATS, INF, INTEGERS, NAN, RANGES, Numbers, Tensor, absolute, case, formula
from .core import cast_number, to_float, ulp
from .elementwise import each


def sigmoid(x):
    return 0.0 if x < -700 else 1 / (1 + math.exp(-x))


def softplus(x):
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def gelu(x):
    return 0.5 * x * math.erfc(-x / math.sqrt(2))  # erfc(-y) = 1 + erf(y), without cancelling


PLAIN = {
    "gelu": (gelu, ulp(18), (-1.2, 4)),
    "hardSwish": (lambda x: x * max(0.0, min(6.0, x + 3)) / 6, ulp(4), (-5, 5)),
    "sigmoid": (sigmoid, ulp(34, 10), (-8, 8)),
    "softplus": (softplus, ulp(18), (-2, 6)),
    "softsign": (lambda x: x / (1 + abs(x)), ulp(3), (-9, 9)),
    "tanh": (math.tanh, absolute(1 / 1024, 1 / 512), (-3, 3)),
}
WITH_OPTIONS = {
    "elu": (lambda x, alpha=1.0: max(0.0, x) + alpha * math.expm1(min(0.0, x)), ulp(18)),
    "hardSigmoid": (lambda x, alpha=0.2, beta=0.5: max(0.0, min(1.0, alpha * x + beta)), ulp(2)),
    "leakyRelu": (lambda x, alpha=0.01: max(0.0, x) + alpha * min(0.0, x), ulp(1, 2)),
    "linear": (lambda x, alpha=1.0, beta=0.0: alpha * x + beta, ulp(2)),
}


def apply(op, input):
    return Tensor(input.kind, each(PLAIN[op][0], input.a))


def apply_with_options(op, input, **options):
    function = WITH_OPTIONS[op][0]
    defaults = function.__defaults__
    names = function.__code__.co_varnames[1:1 + len(defaults)]
    cast = [to_float(float(options.get(n, d)), input.kind) for n, d in zip(names, defaults)]
    return Tensor(input.kind, each(lambda x: function(x, *cast), input.a))


for name_, (_, tolerance_, _) in PLAIN.items():
    formula(name_, tolerance=tolerance_)(apply)
for name_, (_, tolerance_) in WITH_OPTIONS.items():
    formula(name_, tolerance=tolerance_)(apply_with_options)


@formula("clamp")
def clamp(input, minValue=None, maxValue=None):
    result = input.a
    if minValue is not None:
        result = np.maximum(result, cast_number(minValue, input.kind))
    if maxValue is not None:
        result = np.minimum(result, cast_number(maxValue, input.kind))
    return Tensor(input.kind, result)


@formula("relu")
def relu(input):
    return Tensor(input.kind, each(lambda x: max(x, type(x)(0)), input.a))


@formula("prelu", tolerance=ulp(1))
def prelu(input, slope):
    return Tensor(input.kind, each(lambda x, s: max(x, type(x)(0)) + s * min(x, type(x)(0)),
                                   input.a, slope.a))


@formula("softmax", tolerance=lambda input, axis: ulp(3 * input.shape[axis]))
def softmax(input, axis):
    powers = each(math.exp, input.a - input.a.max(axis=axis, keepdims=True)).astype(float)
    return Tensor(input.kind, powers / powers.sum(axis=axis, keepdims=True))


SHAPES = [("rank 2", "float32", (3, 5)), ("rank 4", "float16", (2, 1, 2, 2)),
          ("a scalar", "float32", ()), ("a scalar", "float16", ()),
          ("rank 8", "float32", (1, 2, 1, 1, 3, 1, 2, 1)), ("more than a vector", "float32", (19,))]

CHOSEN = {
    "gelu": [0.0, 1.0, -1.0, 0.5, 9.0, INF, NAN],
    "hardSwish": [0.0, -3.0, 3.0, -3.5, 3.5, 2.875, -2.875, -2.998, 100.0, -100.0, NAN],
    "sigmoid": [0.0, 1.0, -1.0, 20.0, -9.0, INF, -INF, NAN],
    "softplus": [0.0, 1.0, -1.0, -10.0, -20.0, 20.0, 200.0, INF, NAN],
    "softsign": [0.0, 1.0, -1.0, 200.0, -3000.0, NAN],
    "tanh": [0.0, 0.25, -1.0, 20.0, -200.0, INF, -INF, NAN],
    "relu": [0.0, -0.0, 1.0, -1.0, INF, -INF, 65504.0, -65504.0],
}


def draw(op, label, kind, shape, low, high):
    return Numbers(f"{op} {label}").decimals(low, high, kind, shape)


def plain():
    for op in (*PLAIN, "relu"):
        low, high = PLAIN[op][2] if op in PLAIN else (-4, 4)
        for label, kind, shape in SHAPES:
            case(op, f"{kind} {label}", input=draw(op, label, kind, shape, low, high))
        case(op, "float32 constant",
             input=draw(op, "constant", "float32", (5,), low, high).as_constant())
        for kind in FLOATS:
            case(op, f"{kind} chosen numbers", input=Tensor(kind, CHOSEN[op]))
    for kind in ("int8", "int32", "int64"):
        low, high = RANGES[kind]
        case("relu", f"{kind} at the ends of the range",
             input=Tensor(kind, [low, low + 1, -1, 0, 1, high - 1, high]))


def with_options():
    # Without numbers whose positive and negative terms cancel each other.
    ranges = {"elu": (-4, 4), "hardSigmoid": (-4, 4), "leakyRelu": (-4, 4), "linear": (0.25, 4)}
    options = {
        "elu": [{"alpha": 0.5}, {"alpha": 3.75}, {"alpha": 0.0}, {"alpha": 0.1}],
        "hardSigmoid": [{"alpha": 0.125}, {"beta": 0.25}, {"alpha": 0.5, "beta": 1.5},
                        {"alpha": -0.25, "beta": 0.75}, {"alpha": 0.0, "beta": 0.3}],
        "leakyRelu": [{"alpha": 0.25}, {"alpha": 2.0}, {"alpha": 0.0}, {"alpha": -1.5},
                      {"alpha": 0.1}],
        "linear": [{"alpha": 2.5}, {"beta": 1.25}, {"alpha": 0.1, "beta": 0.7},
                   {"alpha": -0.5, "beta": -3.0}, {"alpha": 0.0, "beta": 1.0},
                   {"alpha": 0.9999995}],
    }
    for op, (low, high) in ranges.items():
        def tensor(label, kind, shape):
            drawn = draw(op, label, kind, shape, low, high)
            if op == "elu":  # close below zero exp(x) - 1 cancels
                drawn = Tensor(kind, np.where((drawn.a < 0) & (drawn.a > -0.25), -0.5, drawn.a))
            if op == "hardSigmoid":  # dyadic: nothing cancels
                drawn = Tensor(kind, np.round(drawn.a * 8) / 8)
            return drawn
        for label, kind, shape in SHAPES[:5]:
            case(op, f"{kind} defaults, {label}", input=tensor(label, kind, shape))
        case(op, "float32 constant", input=tensor("constant", "float32", (7,)).as_constant(),
             options=options[op][0])
        for i, given in enumerate(options[op]):
            told = ", ".join(f"{key} {value}" for key, value in given.items())
            case(op, f"float32 {told}", input=tensor(told, "float32", (2, 5)), options=given)
            if i != 1:
                case(op, f"float16 {told}", input=tensor(told, "float16", (6,)), options=given)


def clamps():
    values = [-300.5, -7.0, -1.5, -0.25, 0.0, 0.75, 1.0, 6.5, 300.0]
    bounds = [{"minValue": -1.5, "maxValue": 6.0}, {"minValue": -1.0}, {"minValue": 0.1}, {},
              {"maxValue": 0.5}, {"minValue": 0.75, "maxValue": 0.75},
              {"minValue": -INF, "maxValue": 1.0}, {"minValue": 0.3, "maxValue": INF}]
    for kind in FLOATS:
        for given in bounds if kind == "float32" else bounds[:3]:
            told = ", ".join(f"{key} {number}" for key, number in given.items()) or "no bound"
            case("clamp", f"{kind} {told}", input=Tensor(kind, values), options=given)
    for kind in INTEGERS:
        low, high = RANGES[kind]
        values = [low, low + 1, 0, 1, 2, 100, high - 1, high]
        for given in ({"minValue": low + 1, "maxValue": high - 1}, {"maxValue": 100}):
            told = ", ".join(f"{key} {number}" for key, number in given.items())
            case("clamp", f"{kind} {told}", input=Tensor(kind, values), options=given)
    case("clamp", "int8 bounds beyond the range", input=Tensor("int8", [-128, -5, 0, 127]),
         options={"minValue": -1000, "maxValue": 1000})
    case("clamp", "uint8 bounds beyond the range", input=Tensor("uint8", [0, 5, 128, 255]),
         options={"minValue": -1, "maxValue": 256})
    case("clamp", "int64 infinite bounds", input=Tensor("int64", [-(1 << 63), 0, (1 << 63) - 1]),
         options={"minValue": -INF, "maxValue": INF})
    case("clamp", "int32 bounds with a fraction are rounded",
         input=Tensor("int32", [-9, -2, -1, 0, 1, 2, 3, 9]),
         options={"minValue": -1.75, "maxValue": 2.5})
    case("clamp", "float32 a scalar", input=Tensor("float32", 3.5), options={"maxValue": 2.5})
    case("clamp", "float16 rank 8", input=Tensor("float16", [-2, 7], (1, 1, 1, 2, 1, 1, 1, 1)),
         options={"minValue": -1.25, "maxValue": 5})
    case("clamp", "float32 infinities are brought to the bounds",
         input=Tensor("float32", [-INF, INF, 1.0]), options={"minValue": -2.0, "maxValue": 2.0})


def slopes():
    shapes = [("same shape", (2, 5), (2, 5)), ("slope of lower rank", (2, 3, 4), (4,)),
              ("slope a channel", (2, 3, 2, 2), (3, 1, 1)), ("input of lower rank", (4,), (3, 1)),
              ("both are spread", (2, 1, 3), (4, 1)), ("scalars", (), ()),
              ("slope is a scalar", (7,), ()), ("rank 8", (1, 2, 1, 1, 3, 1, 1, 1), (2, 1, 1))]
    for i, (label, shape, slope) in enumerate(shapes):
        numbers = Numbers(f"prelu {label}")
        kind = "float16" if i in (1, 4) else "float32"
        case("prelu", f"{kind} {label}", input=numbers.decimals(-4, 4, kind, shape),
             slope=numbers.decimals(-2, 2, kind, slope))
    numbers = Numbers("prelu")
    for kind in ("int8", "int32", "int64"):
        case("prelu", f"{kind} slopes of either sign", input=numbers.whole(-9, 9, kind, (2, 4)),
             slope=numbers.whole(-3, 3, kind, (2, 1)))
        low, high = RANGES[kind]
        case("prelu", f"{kind} at the ends of the range", input=Tensor(kind, [low, high, low + 1]),
             slope=Tensor(kind, [1, 5, -1]))
    case("prelu", "float32 slope is constant", input=numbers.decimals(-4, 4, "float32", (3, 4)),
         slope=numbers.decimals(0, 1, "float32", (4,)).as_constant())
    same = numbers.decimals(-3, 3, "float32", (6,))
    case("prelu", "float32 the same operand twice", input=same, slope=same)


def softmaxes():
    shapes = [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 3, 2, 3), 0),
              ((2, 3, 2, 3), 3), ((1, 2, 1, 3, 1, 1, 2, 1), 3), ((4, 1), 1)]
    for shape, axis in shapes:
        for kind in FLOATS if len(shape) in (2, 3) else ("float32",):
            label = f"{kind} shape {list(shape)}, axis {axis}"
            case("softmax", label, input=Numbers(label).decimals(-2, 2, kind, shape), axis=axis)
    case("softmax", "float32 large numbers",
         input=Tensor("float32", [[1000.0, 1001.0, 999.5], [-1000.0, -1000.5, -1001.0]]), axis=1)
    case("softmax", "float16 large numbers",
         input=Tensor("float16", [[300.0, -300.0], [301.0, -299.0], [299.0, -300.5]]), axis=0)
    case("softmax", "float32 one takes all",
         input=Tensor("float32", [0.0, 200.0, -200.0]), axis=0)
    case("softmax", "float32 minus infinity counts nothing",
         input=Tensor("float32", [1.0, -INF, 2.0]), axis=0)
    case("softmax", "float32 constant",
         input=Numbers("softmax constant").decimals(-2, 2, "float32", (2, 5)).as_constant(), axis=1)
    case("softmax", "float32 an axis longer than a vector",
         input=Numbers("softmax long").decimals(-1, 1, "float32", (2, 37)), axis=1)


def make():
    plain()
    with_options()
    clamps()
    slopes()
    softmaxes()
