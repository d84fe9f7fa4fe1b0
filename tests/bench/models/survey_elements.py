"""Operators of the survey that work element by element, and those that only move elements.

Each function draws one case. ROWS has for each: family, operator, how many of a deck, the function.
"""
import math

import numpy as np

from single import TYPES, TooLarge

UNARY = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp",
         "Floor", "HardSigmoid", "HardSwish", "Identity", "IsNaN", "LeakyRelu", "Log", "Neg", "Reciprocal", "Relu",
         "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh",
         "ThresholdedRelu"]
COMPARISONS = ["Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"]


def unary(s):
    s.input(s.tensor(), "float16" if s.chance(0.04) else "float32")


def logical_not(s):
    s.input(s.tensor(), "bool")


def other_shape(s, shape):
    """A shape that broadcasts with it: the same, of channels, of a row, a scalar, or with some dimensions of 1."""
    rank = len(shape)
    channels = [shape[1], *[1] * (rank - 2)] if rank > 1 else shape
    some = [n if s.chance(0.5) else 1 for n in shape]
    return s.random.choices([shape, channels, shape[-1:], [], some, [shape[0], *[1] * (rank - 1)]],
                            [40, 15, 15, 10, 15, 5])[0]


def two(s, data_type):
    shape = s.tensor()
    other = other_shape(s, shape)
    if data_type == "float32" and s.chance(0.3):
        s.input(shape)
        s.weights(other)
    else:
        for operand in s.random.sample([shape, other], 2):
            s.input(operand, data_type)


def binary(s):
    two(s, s.random.choices(["float32", "float16", "int32", "int64"], [84, 4, 6, 6])[0])


def binary_float(s):
    two(s, s.float_type())


def logical(s):
    two(s, "bool")


def modulo(s):
    data_type = s.choice(["int32", "int64"])
    s.input(s.tensor(), data_type)
    s.constant(7, data_type)  # inputs are 0 and 1: no division by them


def power(s):
    if s.chance(0.25):
        return two(s, "float32")
    s.input(s.tensor())
    s.constant(s.choice([2, 3, 0.5, -1, 1.7]), "float32")


def variadic(s):
    shape = s.tensor()
    for _ in range(s.random.randint(2, 4)):
        s.input(shape)


def where(s):
    shape = s.tensor()
    s.input(other_shape(s, shape) if s.chance(0.5) else shape, "bool")
    data_type = s.any_type()
    s.input(shape, data_type)
    if data_type == "float32" and s.chance(0.4):
        s.constant(-10000, "float32")
    else:
        s.input(other_shape(s, shape), data_type)


def clip(s):
    s.input(s.tensor())
    s.constant(s.choice([0, 0.1]), "float32")
    if s.chance(0.8):
        s.constant(s.choice([0.9, 6]), "float32")


def cast(s):
    source, target = s.random.sample(list(TYPES), 2)
    s.input(s.tensor(), source)
    s.attributes["to"] = TYPES[target]


def prelu(s):
    shape = s.image()
    s.input(shape)
    s.weights(s.choice([[shape[1], 1, 1], [1]]))


# Movement.

def transpose(s):
    rank = s.choice([2, 3, 3, 4, 4, 4, 4, 5])
    shape = {2: lambda: s.tokens()[1:], 3: s.tokens, 4: lambda: s.choice([s.image, s.scores, lambda: [
        1, s.choice([32, 128, 197]), s.choice([4, 8, 12]), s.choice([32, 64])]])(), 5: lambda: s.image(3)}[rank]()
    order = list(range(rank))
    while order == sorted(order):
        s.random.shuffle(order)
    s.input(shape, s.any_type())
    s.attributes["perm"] = order


def concat(s):
    shape = s.tensor()
    axis, data_type = s.axis(shape), s.any_type()
    for _ in range(s.random.randint(2, 4)):
        if shape[axis] > 3 and s.chance(0.3):
            shape = [*shape[:axis], shape[axis] // 2, *shape[axis + 1:]]
        s.input(shape, data_type)
    s.attributes["axis"] = axis


def split(s):
    shape = s.tensor()
    axis, pieces = s.axis(shape), s.choice([2, 3, 4])
    if shape[axis] < pieces:
        raise TooLarge
    sizes = [shape[axis] // pieces] * (pieces - 1)
    s.input(shape, s.any_type())
    s.constant([*sizes, shape[axis] - sum(sizes)])
    s.attributes["axis"], s.results = axis, pieces


def slice_some(s):
    shape = s.tensor()
    axes = sorted(s.random.sample(range(len(shape)), s.choice([1, 1, 2]) if len(shape) > 1 else 1))
    kinds = [s.random.choices(["part", "every second", "reverse"], [55, 30, 15])[0] for _ in axes]
    starts, ends, steps = [], [], []
    for axis, kind in zip(axes, kinds):
        n = shape[axis]
        start = s.random.randrange(n // 2 + 1) if n > 1 else 0
        start, end, step = {"part": (start, min(n, start + max(1, n // 2)), 1),
                            "every second": (s.choice([0, 1]) if n > 1 else 0, n, s.choice([2, 2, 3])),
                            "reverse": (-1, -n - 1, -1)}[kind]
        starts, ends, steps = [*starts, start], [*ends, end], [*steps, step]
    s.input(shape, s.any_type())
    for values in (starts, ends, axes, steps):
        s.constant(values)


def pad(s):
    shape = s.image(s.choice([1, 2, 2, 2, 3])) if s.chance(0.7) else s.tensor()
    mode = s.choice(["constant", "constant", "reflect", "edge"])
    outer = 2 if len(shape) > 2 else 0
    widths = [0] * outer + [s.random.randint(0, min(4, n - 1)) for n in shape[outer:]]
    s.input(shape, s.any_type() if mode == "constant" else "float32")
    s.constant(widths * 2 if s.chance(0.7) else [*[0] * len(shape), *widths])
    s.attributes["mode"] = mode


def tile(s):
    shape = s.tensor()
    repeats = [s.choice([1, 1, 2, 3]) for _ in shape]
    s.bound(elements=math.prod(shape) * math.prod(repeats))
    s.input(shape, s.any_type())
    s.constant(repeats)


def expand(s):
    shape = s.tensor()
    s.input([n if s.chance(0.5) else 1 for n in shape], s.any_type())
    s.constant(shape)


def gather(s):
    kind = s.random.choices(["table", "any axis", "one"], [50, 35, 15])[0]
    if kind == "table":
        shape, axis = [s.choice([512, 2048, 8192, 30000]), s.choice([64, 128, 256])], 0
        wanted = s.choice([[16], [1, 128], [8, 64], [1], [1, 512], [4096]])
    else:
        shape = s.tensor(2)
        axis = s.axis(shape)
        wanted = [] if kind == "one" else [s.random.randint(1, 2 * shape[axis])]
    if shape[axis] < 2:
        raise TooLarge
    s.bound(elements=math.prod(shape) // shape[axis] * math.prod(wanted))
    s.weights(shape) if kind == "table" and s.chance(0.8) else s.input(shape, s.any_type())
    indices = s.numbers.integers(0, shape[axis], wanted)
    s.constant(indices) if s.chance(0.5) else s.input(wanted, s.choice(["int64", "int32"]))
    s.attributes["axis"] = axis


def gather_elements(s):
    shape = s.tensor(2)
    axis = s.axis(shape)
    if shape[axis] < 2:
        raise TooLarge
    wanted = [*shape[:axis], s.random.randint(1, shape[axis]), *shape[axis + 1:]]
    s.input(shape)
    s.input(wanted, "int64") if s.chance(0.5) else s.constant(s.numbers.integers(0, shape[axis], wanted))
    s.attributes["axis"] = axis


def gather_nd(s):
    shape = s.tensor(2)
    depth = s.random.randint(1, min(3, len(shape)))
    if min(shape[:depth]) < 2:
        raise TooLarge
    wanted = [s.choice([1, 16, 100, 1000]), depth]
    s.bound(elements=wanted[0] * math.prod(shape[depth:]))
    s.input(shape)
    s.input(wanted, "int64") if s.chance(0.5) else s.constant(
        np.stack([s.numbers.integers(0, n, wanted[0]) for n in shape[:depth]], 1))


def scatter_nd(s):
    """No place is written twice: the result would depend on the order."""
    shape = s.tensor(2)
    depth = s.random.randint(1, min(3, len(shape)))
    places = math.prod(shape[:depth])
    count = min(places, s.choice([1, 16, 100, 1000]))
    flat = s.numbers.choice(places, count, replace=False)
    s.input(shape)
    s.constant(np.stack(np.unravel_index(flat, shape[:depth]), 1))
    s.input([count, *shape[depth:]])


def scatter_elements(s):
    shape = s.tensor(2)
    axis = s.axis(shape)
    s.bound(elements=math.prod(shape) * 4)
    count = s.random.randint(1, shape[axis])
    order = np.argsort(s.numbers.random(shape), axis).take(range(count), axis)
    s.input(shape)
    s.constant(order)
    s.input(list(order.shape))
    s.attributes["axis"] = axis


def depth_to_space(s):
    shape, block = s.image(), s.choice([2, 2, 3, 4])
    shape[1] = block * block * s.choice([1, 3, 16, 32])
    s.attributes = {"blocksize": block, "mode": s.choice(["DCR", "CRD"])}
    s.input(shape)


def space_to_depth(s):
    shape, block = s.image(), s.choice([2, 4])
    shape[2:] = [n // block * block or block for n in shape[2:]]
    s.attributes = {"blocksize": block}
    s.input(shape)


def resize(s):
    shape = s.image()
    mode = s.random.choices(["nearest", "linear", "cubic"], [50, 40, 10])[0]
    factors = s.choice([[2, 2], [2, 2], [0.5, 0.5], [1.5, 1.5], [4, 4], [3, 2], [0.75, 0.75]])
    coordinates = s.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    s.bound(elements=shape[0] * shape[1] * math.prod(int(n * f) for n, f in zip(shape[2:], factors)))
    s.attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        s.attributes["nearest_mode"] = s.choice(["floor", "round_prefer_floor"])
    s.input(shape)
    s.none()
    if s.chance(0.7):
        s.constant([1, 1, *factors], "float32")
    else:
        s.none()
        s.constant([*shape[:2], *(max(1, int(n * f)) for n, f in zip(shape[2:], factors))])


def trilu(s):
    s.input(s.scores())
    s.attributes["upper"] = s.choice([0, 1])


def top_k(s):
    shape = s.choice([[1, 8400], [1, 80, 8400], [100, 1000], [1, 1000], [1, 3549, 80], s.tensor()])
    axis = len(shape) - 1 if s.chance(0.7) else s.axis(shape)
    s.input(shape)
    s.constant([min(shape[axis], s.choice([1, 5, 10, 100, 300]))])
    s.attributes, s.results = {"axis": axis}, 2


def one_hot(s):
    shape, depth = s.choice([[1, 128], [8, 512], [1000]]), s.choice([10, 100, 1000])
    s.input(shape, "int64")
    s.constant(depth)
    s.constant([0, 1], "float32")


def reshape(s):
    shape = s.tensor(2)
    s.input(shape, s.any_type())
    s.constant([shape[0], -1])


ROWS = [
    *[("elementwise", name, 1, unary) for name in UNARY],
    ("elementwise", "Not", 1, logical_not),
    ("elementwise", "Add", 4, binary),
    ("elementwise", "Sub", 1, binary),
    ("elementwise", "Mul", 3, binary),
    ("elementwise", "Div", 2, binary_float),
    ("elementwise", "Pow", 2, power),
    ("elementwise", "Max", 1, binary),
    ("elementwise", "Min", 1, binary),
    *[("elementwise", name, 1, binary) for name in COMPARISONS],
    *[("elementwise", name, 1, logical) for name in ["And", "Or", "Xor"]],
    ("elementwise", "Mod", 1, modulo),
    ("elementwise", "PRelu", 1, prelu),
    *[("elementwise", name, 1, variadic) for name in ["Sum", "Mean"]],
    ("elementwise", "Where", 2, where),
    ("elementwise", "Clip", 1, clip),
    ("elementwise", "Cast", 4, cast),
    ("movement", "Transpose", 9, transpose),
    ("movement", "Concat", 3, concat),
    ("movement", "Split", 2, split),
    ("movement", "Slice", 5, slice_some),
    ("movement", "Pad", 4, pad),
    ("movement", "Tile", 2, tile),
    ("movement", "Expand", 2, expand),
    ("movement", "Gather", 5, gather),
    ("movement", "GatherElements", 2, gather_elements),
    ("movement", "GatherND", 2, gather_nd),
    ("movement", "ScatterND", 2, scatter_nd),
    ("movement", "ScatterElements", 1, scatter_elements),
    ("movement", "DepthToSpace", 2, depth_to_space),
    ("movement", "SpaceToDepth", 1, space_to_depth),
    ("movement", "Resize", 5, resize),
    ("movement", "Trilu", 1, trilu),
    ("movement", "TopK", 2, top_k),
    ("movement", "OneHot", 1, one_hot),
    ("movement", "Reshape", 1, reshape),
]
