"""Pictures of another size: the coordinate in the input of each element of the output."""
import itertools
import math
from fractions import Fraction

import numpy as np

from .core import FLOATS, Numbers, Tensor, case, formula, ulp


def coordinate(place, input_size, output_size):
    scale = Fraction(output_size, input_size)
    unclamped = (place + Fraction(1, 2)) / scale - Fraction(1, 2)
    return min(max(unclamped, Fraction(0)), Fraction(input_size - 1))


def tolerance_of(mode="nearest-neighbor", **_):
    return ulp(84, 4) if mode == "linear" else ulp(0)


@formula("resample2d", tolerance=tolerance_of)
def resample2d(input, mode="nearest-neighbor", scales=(1.0, 1.0), sizes=None, axes=(2, 3)):
    shape = list(input.shape)
    for i, axis in enumerate(axes):
        shape[axis] = sizes[i] if sizes else math.floor(shape[axis] * scales[i])
    result = np.empty(shape, dtype=object)
    for place in itertools.product(*map(range, shape)):
        y, x = (coordinate(place[a], input.shape[a], shape[a]) for a in axes)

        def at(row, column):
            index = list(place)
            index[axes[0]], index[axes[1]] = row, column
            return Fraction(input.a[tuple(index)])
        if mode == "nearest-neighbor":
            half = Fraction(1, 2)
            result[place] = at(math.ceil(y - half), math.ceil(x - half))
        else:
            x0, x1, y0, y1 = math.floor(x), math.ceil(x), math.floor(y), math.ceil(y)
            upper = at(y0, x0) * (1 - (x - x0)) + at(y0, x1) * (x - x0)
            lower = at(y1, x0) * (1 - (x - x0)) + at(y1, x1) * (x - x0)
            result[place] = upper * (1 - (y - y0)) + lower * (y - y0)
    convert = float if input.kind in FLOATS else int
    if input.kind not in FLOATS:  # how fractions are rounded is not specified
        assert all(value.denominator == 1 for value in result.ravel())
    return Tensor(input.kind, np.vectorize(convert, otypes=[object])(result))


def make():
    def add(label, kind="float32", x=(1, 1, 3, 4), step=None, constant=False, **options):
        numbers = Numbers(f"resample2d {label}")
        drawn = numbers.decimals(1, 9, kind, x) if kind in FLOATS else numbers.any(kind, x)
        if step:
            drawn = Tensor(kind, numbers.whole(0, 6, kind, x).a * step)
        case("resample2d", f"{kind} {label}", input=drawn.as_constant() if constant else drawn,
             **({"options": options} if options else {}))

    add("defaults")
    for mode in ("nearest-neighbor", "linear"):
        add(f"{mode}, scales up", mode=mode, scales=[2.0, 3.0])
        add(f"{mode}, scales up", "float16", x=(1, 1, 2, 3), mode=mode, scales=[2.0, 2.0])
        add(f"{mode}, a scale that is no whole number", mode=mode, scales=[1.5, 1.25])
        add(f"{mode}, scales down", x=(1, 1, 6, 8), mode=mode, scales=[0.5, 0.25])
        add(f"{mode}, a size that is rounded down", x=(1, 1, 5, 3), mode=mode, scales=[0.5, 1.9])
        add(f"{mode}, sizes", mode=mode, sizes=[5, 7])
        add(f"{mode}, sizes up and down", "float16", x=(2, 1, 2, 5), mode=mode, sizes=[3, 2])
        add(f"{mode}, sizes go before scales", mode=mode, sizes=[2, 6], scales=[3.0, 3.0])
        add(f"{mode}, axes [1, 2]", x=(1, 2, 3, 2), mode=mode, sizes=[4, 5], axes=[1, 2])
        add(f"{mode}, axes in the other order", mode=mode, sizes=[3, 5], axes=[3, 2])
        add(f"{mode}, axes [2, 0]", x=(3, 1, 2, 2), mode=mode, scales=[2.0, 0.5], axes=[2, 0])
        add(f"{mode}, from one element", x=(1, 2, 1, 1), mode=mode, sizes=[2, 3])
        add(f"{mode}, to one element", x=(1, 2, 3, 4), mode=mode, sizes=[1, 1])
        add(f"{mode}, constant", x=(1, 1, 2, 2), mode=mode, scales=[2.0, 2.0], constant=True)
        for kind in ("int8", "uint8"):  # twice the size: weights of 1/4 and 3/4 in both directions
            add(f"{mode}, twice the size", kind, x=(1, 2, 2, 3), step=16, mode=mode,
                scales=[2.0, 2.0])
