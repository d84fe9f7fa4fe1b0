"""Floats as integers with a scale and a zero point, of the tensor or of blocks of it. Integers of 4
bits follow an earlier version of the specification, which had them."""
from fractions import Fraction

import numpy as np

from .core import FLOATS, RANGES, Numbers, Tensor, case, formula, ulp

QUANTIZED = ("int8", "uint8", "int32", "uint32", "int4", "uint4")


def blocks(tensor, shape):
    """Each element as often as its block is large, in every dimension."""
    array = tensor.a
    for axis, size in enumerate(shape):
        assert size % array.shape[axis] == 0
        array = array.repeat(size // array.shape[axis], axis)
    return array


@formula("quantizeLinear")
def quantize(input, scale, zeroPoint):
    low, high = RANGES[zeroPoint.kind]
    unit = 1 << (20 if input.kind == "float32" else 9)

    def one(x, s, z):
        ratio = Fraction(x) / Fraction(s)
        near = abs(ratio % 1 - Fraction(1, 2))  # how far from halfway
        exact = Fraction(x / s) == ratio
        assert exact or near > abs(ratio) / unit, f"{x} / {s} may be rounded either way"
        return min(max(round(ratio) + z, low), high)
    scales, zeros = blocks(scale, input.shape), blocks(zeroPoint, input.shape)
    return Tensor(zeroPoint.kind, np.frompyfunc(one, 3, 1)(input.a, scales, zeros))


@formula("dequantizeLinear", tolerance=ulp(1))
def dequantize(input, scale, zeroPoint):
    scales, zeros = blocks(scale, input.shape), blocks(zeroPoint, input.shape)
    return Tensor(scale.kind, np.asarray(input.a - zeros).astype(float) * scales)


SHAPES = [
    # label, input, scale
    ("of the tensor", (2, 6), (1, 1)),
    ("of each row", (3, 4), (3, 1)),
    ("of each column", (3, 4), (1, 4)),
    ("of blocks of the last axis", (2, 6), (2, 2)),
    ("of blocks of the first axis", (6, 2), (3, 2)),
    ("of blocks of both axes", (4, 3), (2, 1)),
    ("of each channel", (2, 3, 1, 2), (1, 3, 1, 1)),
    ("a scalar", (), ()),
    ("rank 3, blocks", (2, 4, 3), (1, 2, 3)),
    ("rank 8", (1, 2, 1, 1, 4, 1, 2, 1), (1, 2, 1, 1, 2, 1, 1, 1)),
    ("an odd number of elements", (3, 3), (3, 1)),
]


def parameters(numbers, kind, quantized, shape, constant):
    """Scales that are powers of two, and zero points."""
    scale = Tensor(kind, 2.0 ** numbers.whole(-2, 1, "int32", shape).a.astype(float))
    low, high = RANGES[quantized]
    zero = numbers.whole(max(low, -5), min(high, 9), quantized, shape)
    return (scale.as_constant(), zero.as_constant()) if constant else (scale, zero)


def make():
    for i, (label, shape, of) in enumerate(SHAPES):
        for quantized in QUANTIZED:
            main = quantized in ("int8", "uint8")
            if not main and i not in (1, 4, 10):
                continue
            if main and (i % 2 == 0) == (quantized == "uint8"):
                continue
            kind = "float16" if i in (2, 4) else "float32"
            numbers = Numbers(f"quantization {label} {quantized}")
            constant = i in (0, 1, 3, 5)
            low, high = RANGES[quantized]
            scale, zero = parameters(numbers, kind, quantized, of, constant)
            case("quantizeLinear", f"{kind} to {quantized}, {label}",
                 input=numbers.eighths(-12, 12, kind, shape), scale=scale, zeroPoint=zero)
            whole = numbers.whole(max(low, -100), min(high, 100), quantized, shape)
            case("dequantizeLinear", f"{quantized} to {kind}, {label}",
                 input=whole.as_constant() if constant else whole, scale=scale, zeroPoint=zero)
    for kind in FLOATS:
        for quantized in ("int8", "uint8", "int4", "uint4"):
            low, high = RANGES[quantized]
            middle = (low + high + 1) // 2
            case("quantizeLinear", f"{kind} to {quantized}, halfway and beyond the range",
                 input=Tensor(kind, [0.25, 0.75, 1.25, -0.25, -0.75, 1000.0, -1000.0, 0.5, 0.0]),
                 scale=Tensor(kind, [0.5]), zeroPoint=Tensor(quantized, [middle + 1]))
            case("dequantizeLinear", f"{quantized} to {kind}, the ends of the range",
                 input=Tensor(quantized, [low, low + 1, middle, high - 1, high]),
                 scale=Tensor(kind, [0.1]), zeroPoint=Tensor(quantized, [low + 2]))
            case("dequantizeLinear", f"{quantized} to {kind}, zero point at the other end",
                 input=Tensor(quantized, [low, middle, high]),
                 scale=Tensor(kind, [1.5]), zeroPoint=Tensor(quantized, [high]))
    case("quantizeLinear", "float32 to int32, large",
         input=Tensor("float32", [8388608.0, -16777216.0, 3.5, 2.5]),
         scale=Tensor("float32", [1.0]), zeroPoint=Tensor("int32", [-2]))
    case("quantizeLinear", "float32 to uint8, a scale that is no power of two",
         input=Tensor("float32", [0.31, 0.74, 1.29, 9.9, 30.0]),
         scale=Tensor("float32", [0.1]), zeroPoint=Tensor("uint8", [3]))
    case("dequantizeLinear", "uint32 to float32, large",
         input=Tensor("uint32", [16777216, 4096, 0]), scale=Tensor("float32", [0.5]),
         zeroPoint=Tensor("uint32", [4096]))
