"""Pooling: each window's elements that lie in the picture, without padding.

Padding counts also where output sizes are given, as the specification's conformance tests have it;
its text would leave padding out then.
"""
import itertools
import math

import numpy as np

from .convolution import back, nchw
from .core import FLOATS, INTEGERS, RANGES, Numbers, Tensor, case, formula, ulp

OF_WINDOW = {
    "averagePool2d": lambda values: sum(values) / len(values),
    "l2Pool2d": lambda values: math.sqrt(sum(v * v for v in values)),
    "maxPool2d": max,
}


def window_of(input, windowDimensions, layout):
    return windowDimensions or nchw(input.a, layout).shape[2:]


def terms(most):
    def tolerance(input, windowDimensions=None, layout="nchw", **_):
        rows, columns = window_of(input, windowDimensions, layout)
        return ulp(min(rows * columns + 2, most * rows * columns))
    return tolerance


@formula("averagePool2d", tolerance=terms(3))
@formula("l2Pool2d", tolerance=terms(2))
@formula("maxPool2d")
def pool(op, input, windowDimensions=None, padding=(0, 0, 0, 0), strides=(1, 1), dilations=(1, 1),
         layout="nchw", outputShapeRounding="floor", outputSizes=None):
    x = nchw(input.a, layout)
    window = window_of(input, windowDimensions, layout)
    rounding = math.ceil if outputShapeRounding == "ceil" else math.floor
    sizes = outputSizes or [
        rounding((x.shape[2 + d] - (window[d] - 1) * dilations[d] - 1 + padding[2 * d]
                  + padding[2 * d + 1]) / strides[d] + 1) for d in (0, 1)]
    result = np.empty((*x.shape[:2], *sizes), dtype=object)
    for n, ch, r, c in itertools.product(*map(range, result.shape)):
        rows = [r * strides[0] + i * dilations[0] - padding[0] for i in range(window[0])]
        columns = [c * strides[1] + j * dilations[1] - padding[2] for j in range(window[1])]
        values = [x[n, ch, i, j] for i, j in itertools.product(rows, columns)
                  if 0 <= i < x.shape[2] and 0 <= j < x.shape[3]]
        result[n, ch, r, c] = OF_WINDOW[op](values)
    return Tensor(input.kind, back(result, layout))


def make():
    for op in OF_WINDOW:
        def add(label, kind="float32", x=(1, 1, 5, 4), draw=None, constant=False, **options):
            numbers = Numbers(f"{op} {label}")
            low = -4 if op == "maxPool2d" or kind == "float32" and op == "l2Pool2d" else 0
            drawn = draw or (numbers.eighths(low, 4, kind, x) if kind in FLOATS
                             else numbers.any(kind, x))
            if options.get("layout") == "nhwc":
                drawn = Tensor(kind, back(drawn.a, "nhwc"))
            case(op, f"{kind} {label}", input=drawn.as_constant() if constant else drawn,
                 **({"options": options} if options else {}))

        add("the whole picture")
        add("the whole picture", "float16", x=(2, 1, 3, 3))
        add("the whole picture, nhwc", x=(2, 3, 2, 3), layout="nhwc")
        add("a window", windowDimensions=[2, 3])
        add("a window of one row", windowDimensions=[1, 3])
        add("a window of one element", windowDimensions=[1, 1], x=(1, 1, 2, 3))
        add("padding", windowDimensions=[3, 2], padding=[1, 2, 0, 1])
        add("padding", "float16", windowDimensions=[2, 2], padding=[1, 0, 1, 1], x=(1, 1, 3, 2))
        add("strides", windowDimensions=[2, 2], strides=[3, 2], x=(1, 1, 6, 5))
        add("dilations", windowDimensions=[2, 2], dilations=[3, 2], x=(1, 1, 6, 4))
        add("dilations and padding", windowDimensions=[3, 2], dilations=[2, 1],
            padding=[2, 1, 1, 0], x=(1, 1, 4, 3))
        add("nhwc", windowDimensions=[3, 2], padding=[0, 1, 1, 0], strides=[2, 1], layout="nhwc",
            x=(2, 3, 4, 3))
        add("nhwc", "float16", windowDimensions=[2, 1], layout="nhwc", x=(1, 2, 3, 2))
        add("sizes rounded down", windowDimensions=[2, 2], strides=[2, 2], x=(1, 1, 5, 7),
            outputShapeRounding="floor")
        add("sizes rounded up", windowDimensions=[2, 2], strides=[2, 2], x=(1, 1, 5, 7),
            outputShapeRounding="ceil")
        add("sizes rounded up, padding, nhwc", windowDimensions=[3, 3], strides=[2, 3],
            padding=[1, 0, 1, 0], outputShapeRounding="ceil", layout="nhwc", x=(1, 2, 5, 6))
        add("output sizes as rounded up", windowDimensions=[2, 3], strides=[2, 2],
            outputSizes=[3, 3], x=(1, 1, 5, 6))
        add("output sizes go before rounding", windowDimensions=[2, 3], strides=[2, 2],
            outputSizes=[2, 2], outputShapeRounding="ceil", x=(1, 1, 5, 6))
        add("output sizes and padding", windowDimensions=[2, 3], strides=[2, 2],
            outputSizes=[3, 3], padding=[1, 1, 0, 1], x=(1, 1, 5, 6))
        add("constant", windowDimensions=[2, 2], x=(1, 1, 3, 3), constant=True)
        add("everything", windowDimensions=[2, 3], padding=[1, 0, 1, 2], strides=[2, 2],
            dilations=[2, 1], outputShapeRounding="ceil", x=(2, 2, 5, 4))
    for kind in INTEGERS:
        low, high = RANGES[kind]
        case("maxPool2d", f"{kind} at the ends of the range", input=Tensor(
            kind, [low, low, low, low + 1, high, high - 1, 0, high - 2, low], (1, 1, 3, 3)),
            options={"windowDimensions": [2, 2], "padding": [1, 0, 1, 0]})
