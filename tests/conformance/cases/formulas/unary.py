"""Functions of each element without options, predicates, and casts."""
import math

import numpy as np

from .core import FLOATS, INF, INTEGERS, NAN, RANGES, TYPES, Numbers, Tensor, absolute, case
from .core import formula, ulp
from .elementwise import each


def whole(function):
    """To an integer of the same sign, 0 included; infinities and NaN are their own."""
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


def logarithm(x):
    if x == 0:
        return -INF
    return NAN if x < 0 or math.isnan(x) else math.log(x)


def exponential(x):
    return INF if x > 700 else math.exp(x)


def reciprocal(x):
    return math.copysign(INF, x) if x == 0 else 1 / x


def root(x):
    return math.sqrt(x) if not x < 0 else NAN


def periodic(function):
    return lambda x: function(x) if math.isfinite(x) else NAN


# By operator: function, tolerance, arguments that tell it from others.
FUNCTIONS = {
    "abs": (abs, ulp(0), [-2.5, 2.5, 0.0, -0.0, -INF, INF, NAN]),
    "ceil": (whole(math.ceil), ulp(0),
             [-1.5, -1.0, -0.5, 0.0, 0.125, 1.0, 1.001, INF, -INF, NAN]),
    "floor": (whole(math.floor), ulp(0),
              [-1.5, -1.0, -0.125, 0.0, 0.5, 1.0, 1.999, INF, -INF, NAN]),
    "roundEven": (whole(round), ulp(0),
                  [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.501, 1023.5, INF, -INF, NAN]),
    "neg": (lambda x: -x, ulp(0), [-2.5, 2.5, 0.0, -INF, INF, NAN]),
    "sign": (lambda x: (x > 0) - (x < 0), ulp(0), [-2.5, 1e-7, -1e-7, 0.0, -0.0, INF, -INF]),
    "identity": (lambda x: x, ulp(0), [-2.5, 0.0, -0.0, INF, -INF, NAN]),
    "reciprocal": (reciprocal, ulp(2), [3.0, -7.0, 0.0, -0.0, INF, -INF, NAN]),
    "sqrt": (root, ulp(1), [2.0, 0.25, 0.0, -0.0, 1e4, INF, -1.0, NAN]),
    "exp": (exponential, ulp(32, 1), [0.0, 1.0, -1.0, 10.5, 100.0, -INF, INF]),
    "log": (logarithm, absolute(1 / 1024), [1.0, math.e, 0.001, 1e4, 0.0, INF, -1.0, NAN]),
    "sin": (periodic(math.sin), absolute(1 / 1024, 1 / 512), [0.5, -2.0, 3.0, 40.0, -100.0, NAN]),
    "cos": (periodic(math.cos), absolute(1 / 1024, 1 / 512), [0.5, -2.0, 3.0, 40.0, -100.0, NAN]),
    "tan": (periodic(math.tan), absolute(1 / 1024, 1 / 512), [0.5, -1.0, 2.5, 31.0, -7.0, NAN]),
    "erf": (math.erf, absolute(1 / 1024, 1 / 512), [0.25, -0.5, 1.0, -2.0, 5.0, INF, -INF, NAN]),
}
POSITIVE = ("sqrt", "log")
OF_INTEGERS = ("abs", "neg", "sign")
PREDICATES = {"isNaN": math.isnan, "isInfinite": math.isinf}


def register():
    for name, (_, tolerance, _) in FUNCTIONS.items():
        formula(name, tolerance=tolerance)(apply)


def apply(op, input):
    return Tensor(input.kind, each(FUNCTIONS[op][0], input.a))


@formula(*PREDICATES)
def predicate(op, a):
    return Tensor("uint8", each(lambda x: int(PREDICATES[op](x)), a.a))


@formula("logicalNot")
def logical_not(a):
    return Tensor("uint8", each(lambda x: int(x == 0), a.a))


@formula("cast")
def cast(input, dataType):
    def of_float(x):
        return math.trunc(x)

    def of_integer(x):
        low, high = RANGES[dataType]
        return (x - low) % (high - low + 1) + low  # the lowest bits, in two's complement
    if dataType in FLOATS:
        return Tensor(dataType, input.a)
    return Tensor(dataType, each(of_float if input.kind in FLOATS else of_integer, input.a))


def functions():
    for op, (_, _, special) in FUNCTIONS.items():
        low = 0.01 if op in POSITIVE else -1.2 if op == "tan" else -4
        high = 1.2 if op == "tan" else 4

        def draw(kind, shape, label):
            numbers = Numbers(f"{op} {label}")
            tensor = numbers.decimals(low, high, kind, shape)
            if op == "reciprocal":
                tensor = Tensor(kind, np.where(np.abs(tensor.a) < 0.1, 0.3, tensor.a))
            return tensor

        for label, kind, shape in [("rank 2", "float32", (3, 5)), ("a scalar", "float32", ()),
                                   ("a scalar", "float16", ()),
                                   ("rank 5", "float32", (2, 1, 3, 1, 2)),
                                   ("rank 8", "float16", (1, 2, 1, 1, 3, 1, 2, 1)),
                                   ("more than a vector", "float32", (19,))]:
            case(op, f"{kind} {label}", input=draw(kind, shape, label))
        case(op, "float32 constant", input=draw("float32", (2, 4), "constant").as_constant())
        for kind in FLOATS:
            case(op, f"{kind} chosen numbers", input=Tensor(kind, special))
        if op == "roundEven" or op in ("ceil", "floor"):
            case(op, "float32 large numbers", input=Tensor("float32", [
                8388607.5, -8388607.5, 8388609.0, 4194304.5, 4194305.5, 1e30, -3e38, 2147483648.0]))
        if op in OF_INTEGERS or op == "identity":
            for kind in ("int8", "int32", "int64") if op != "identity" else INTEGERS:
                least, most = RANGES[kind]
                if op in ("abs", "neg"):
                    least += 1  # its opposite is not in the type
                case(op, f"{kind} at the ends of the range",
                     input=Tensor(kind, [least, least + 1, 0, 1, 2, most - 1, most]))
    case("sign", "float32 a NaN is neither above nor below zero",
         input=Tensor("float32", [NAN, 1.0, -1.0]))


def predicates():
    for op in PREDICATES:
        numbers = Numbers(op)
        for kind in FLOATS:
            largest = 3.4028234663852886e38 if kind == "float32" else 65504.0
            least = 2.0 ** -149 if kind == "float32" else 2.0 ** -24
            case(op, f"{kind} every kind of number", a=Tensor(kind, [
                NAN, INF, -INF, 0.0, -0.0, 1.0, largest, -largest, least, -least]))
            case(op, f"{kind} rank 3", a=Tensor(kind, [1.0, NAN, INF, 2.0, 3.0, -INF], (1, 3, 2)))
            case(op, f"{kind} a scalar", a=Tensor(kind, NAN if op == "isNaN" else -INF))
            case(op, f"{kind} nothing of the sort", a=numbers.any(kind, (2, 3)))
        case(op, "float32 constant", a=Tensor("float32", [NAN, INF, 1.0, -INF]).as_constant())
        case(op, "float32 rank 8", a=Tensor("float32", [NAN, 1.0, INF, 0.5],
                                            (1, 2, 1, 1, 1, 2, 1, 1)))
    numbers = Numbers("logicalNot")
    for label, shape in [("rank 2", (3, 4)), ("rank 5", (2, 1, 3, 1, 2)), ("a scalar", ()),
                         ("rank 8", (1, 2, 1, 1, 3, 1, 1, 2)), ("more than a vector", (19,))]:
        case("logicalNot", f"uint8 {label}", a=numbers.whole(0, 1, "uint8", shape))
    case("logicalNot", "uint8 every number but 0 is true",
         a=Tensor("uint8", [0, 1, 2, 127, 128, 255]))
    case("logicalNot", "uint8 constant", a=Tensor("uint8", [0, 3, 0, 1]).as_constant())


def casts():
    for source in TYPES:
        for target in TYPES:
            if source in FLOATS:
                low, high = RANGES.get(target, (-2000, 2000))
                low, high = max(low, -2000), min(high, 2000)
                values = [0.0, 1.0, 1.5, 2.5, 2.75, high - 0.5, low + 0.5, 0.999, low + 1.0]
                if low < 0:
                    values += [-0.5, -1.5, -2.999]
            else:
                low, high = RANGES[source]
                values = [0, 1, 2, 100, low, low + 1, high - 1, high]
            case("cast", f"{source} to {target}", input=Tensor(source, values), dataType=target)
    ties = [1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11, 65519.0, 65520.0, -65520.0, 2.0 ** -25, 1e30, NAN,
            INF, -0.0, 2.0 ** -24 * 1.5]
    case("cast", "float32 to float16, halfway and out of range",
         input=Tensor("float32", ties), dataType="float16")
    case("cast", "float16 to float32, all finite or not",
         input=Tensor("float16", [65504.0, 2.0 ** -24, -0.0, INF, -INF, NAN]), dataType="float32")
    for kind in ("int32", "int64"):
        case("cast", f"{kind} to float32, halfway", dataType="float32", input=Tensor(
            kind, [16777217, 16777219, -16777217, 16777218, 33554434, 33554438]))
        case("cast", f"{kind} to float16, halfway and out of range", dataType="float16",
             input=Tensor(kind, [2049, 2051, -2049, 65519, 65520, -70000, 65504]))
    # By way of float64 these would be halfway between two values of float32.
    case("cast", "int64 to float32, rounded once", dataType="float32",
         input=Tensor("int64", [(1 << 53) + (1 << 29) + 1, -(1 << 53) - (1 << 29) - 1]))
    case("cast", "float32 to int64, large", dataType="int64",
         input=Tensor("float32", [2.0 ** 62, -(2.0 ** 63), 16777216.0, -2.0 ** 40]))
    case("cast", "float32 to uint32, above the signed range", dataType="uint32",
         input=Tensor("float32", [2.0 ** 31, 4294967040.0, 3e9]))
    case("cast", "float32 a scalar", input=Tensor("float32", -7.9), dataType="int8")
    case("cast", "float32 constant", input=Tensor("float32", [1.9, -1.9]).as_constant(),
         dataType="int32")
    case("cast", "float16 rank 8", dataType="uint8",
         input=Tensor("float16", [0.0, 254.5, 3.9, 7.0], (1, 1, 2, 1, 1, 2, 1, 1)))


def make():
    functions()
    predicates()
    casts()


register()
