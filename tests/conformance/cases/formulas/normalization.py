"""Normalization. Where numbers are drawn, nothing cancels: scaled differences and biases that are
added to each other have one sign."""
import numpy as np

from .core import Numbers, Tensor, case, formula, to_float, ulp


def spread(tensor, axes, rank):
    """A tensor whose dimensions are these of a larger one's, in this order, made to fit it."""
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    array = tensor.a.transpose(order)
    shape = [1] * rank
    for i in order:
        shape[axes[i]] = tensor.shape[i]
    return array.reshape(shape)


def finish(kind, normal, scale, bias, axes):
    if scale is not None:
        normal = normal * spread(scale, axes, normal.ndim)
    if bias is not None:
        normal = normal + spread(bias, axes, normal.ndim)
    return Tensor(kind, normal)


def normal(input, axes, epsilon):
    mean = input.a.mean(axis=tuple(axes), keepdims=True)
    variance = ((input.a - mean) ** 2).mean(axis=tuple(axes), keepdims=True)
    return (input.a - mean) / np.sqrt(variance + to_float(float(epsilon), input.kind))


@formula("batchNormalization", tolerance=ulp(6))
def batch_normalization(input, mean, variance, scale=None, bias=None, axis=1, epsilon=1e-5):
    rank, near = input.a.ndim, to_float(float(epsilon), input.kind)
    normal_ = (input.a - spread(mean, [axis], rank)) / np.sqrt(
        spread(variance, [axis], rank) + near)
    return finish(input.kind, normal_, scale, bias, [axis])


@formula("instanceNormalization", tolerance=ulp(840, 8400))
def instance_normalization(input, scale=None, bias=None, epsilon=1e-5, layout="nchw"):
    axes, channel = ([2, 3], 1) if layout == "nchw" else ([1, 2], 3)
    return finish(input.kind, normal(input, axes, epsilon), scale, bias, [channel])


@formula("layerNormalization", tolerance=ulp(14))
def layer_normalization(input, scale=None, bias=None, axes=None, epsilon=1e-5):
    axes = list(range(1, input.a.ndim)) if axes is None else axes
    if not axes:  # each element is its own mean
        normal_ = np.zeros(input.shape)
    else:
        normal_ = normal(input, axes, epsilon)
    return finish(input.kind, normal_, scale, bias, axes)


def batches():
    def add(label, kind="float32", x=(2, 3, 2, 2), constant=True, given=("scale", "bias"),
            **options):
        numbers = Numbers(f"batchNormalization {label}")
        size = (x[options.get("axis", 1)],)

        def draw(low, high):
            drawn = numbers.decimals(low, high, kind, size)
            return drawn.as_constant() if constant else drawn
        tensors = {"input": numbers.whole(1, 5, kind, x), "mean": draw(-3, 0.5),
                   "variance": draw(0.5, 4)}
        for name in given:
            options[name] = draw(0.5, 2)
        case("batchNormalization", f"{kind} {label}", **tensors,
             **({"options": options} if options else {}))

    add("mean and variance alone", given=())
    add("scale", given=("scale",))
    add("bias", given=("bias",))
    add("scale and bias")
    add("scale and bias", "float16", x=(1, 2, 3, 2))
    add("all are inputs", constant=False)
    add("all are inputs", "float16", x=(3, 2), constant=False)
    add("rank 1", x=(5,), axis=0)
    add("rank 2", x=(3, 4))
    add("rank 3", x=(2, 3, 2))
    add("rank 5", x=(1, 2, 3, 1, 2))
    add("rank 8", x=(1, 2, 1, 1, 3, 1, 2, 1), axis=4)
    for axis in (0, 2, 3):
        add(f"axis {axis}", axis=axis)
    add("axis 3", "float16", axis=3, x=(1, 2, 2, 3))
    add("epsilon", epsilon=0.5)
    add("epsilon", "float16", epsilon=0.25, x=(2, 3, 2), constant=False)
    add("epsilon without scale or bias", epsilon=1.5, given=(), axis=3)


def instances():
    def add(label, kind="float32", x=(2, 3, 2, 4), constant=True, given=("scale", "bias"),
            **options):
        numbers = Numbers(f"instanceNormalization {label}")
        input_ = numbers.whole(-6, 6, kind, x)
        if options.get("layout") == "nhwc":
            input_ = Tensor(kind, input_.a.transpose(0, 2, 3, 1))
        for name in given:
            drawn = numbers.eighths(1, 3, kind, (x[1],))
            options[name] = drawn.as_constant() if constant else drawn
        if "bias" in options:  # beyond what a scaled number may be
            far = Tensor(kind, options["bias"].a + 9)
            options["bias"] = far.as_constant() if constant else far
        case("instanceNormalization", f"{kind} {label}", input=input_,
             **({"options": options} if options else {}))

    add("alone", given=())
    add("alone", "float16", given=(), x=(1, 2, 2, 2))
    add("scale", given=("scale",))
    add("bias", given=("bias",))
    add("scale and bias")
    add("scale and bias", "float16", x=(1, 2, 3, 2))
    add("scale and bias are inputs", constant=False)
    add("epsilon", epsilon=0.5)
    add("epsilon", "float16", epsilon=2.0, x=(1, 2, 2, 2))
    add("nhwc", layout="nhwc")
    add("nhwc alone", layout="nhwc", given=(), x=(1, 2, 3, 4))
    add("nhwc", "float16", layout="nhwc", x=(1, 3, 2, 2), constant=False)
    add("nhwc and epsilon", layout="nhwc", epsilon=1.0, x=(3, 2, 2, 1))
    case("instanceNormalization", "float32 all elements alike", input=Tensor(
        "float32", [5.0] * 6, (1, 1, 2, 3)), options={"bias": Tensor("float32", [2.5])})


def layers():
    def add(label, kind="float32", x=(2, 4, 3), constant=True, given=("scale", "bias"), **options):
        numbers = Numbers(f"layerNormalization {label}")
        axes = options.get("axes", list(range(1, len(x))))
        # Sums of two numbers that are each other's negative: means are exact, nothing is near 0.
        input_ = numbers.whole(2, 9, kind, x)
        signs = np.where(np.indices(x).sum(axis=0) % 2 == 0, 1, -1) if x else 1
        input_ = Tensor(kind, input_.a * signs + 0.0)
        for name in given:
            drawn = numbers.eighths(1, 3, kind, tuple(x[a] for a in axes))
            drawn = Tensor(kind, drawn.a + (40 if name == "bias" else 0))
            options[name] = drawn.as_constant() if constant else drawn
        case("layerNormalization", f"{kind} {label}", input=input_,
             **({"options": options} if options else {}))

    add("scale", given=("scale",), x=(3, 4))
    add("alone", given=(), x=(2, 6))
    add("alone", "float16", given=(), x=(2, 8))
    add("bias", given=("bias",))
    add("scale and bias")
    add("scale and bias", "float16", x=(3, 2, 2))
    add("scale and bias are inputs", constant=False)
    add("the last axis", axes=[2])
    add("the first axis", axes=[0])
    add("an axis in the middle", axes=[1], x=(2, 4, 3))
    add("axes apart", axes=[0, 2], x=(2, 3, 4))
    add("axes in another order", axes=[2, 1], x=(2, 4, 3))
    add("axes in another order", "float16", axes=[1, 0], x=(2, 4, 3))
    add("three axes in another order", axes=[3, 1, 2], x=(2, 2, 3, 4))
    add("all axes", axes=[0, 1, 2], x=(2, 2, 3))
    add("no axes", axes=[], x=(2, 3))
    add("no axes and no bias", axes=[], x=(4,), given=())
    add("rank 1, by default no axes", x=(5,))
    add("rank 4", x=(2, 1, 3, 4))
    add("rank 8", x=(1, 2, 1, 1, 2, 1, 2, 1), axes=[1, 4, 6])
    add("epsilon", epsilon=8.0)
    add("epsilon", "float16", epsilon=8.0, axes=[2], x=(1, 2, 4))
    add("more than a vector", x=(2, 20))
    case("layerNormalization", "float32 a scalar", input=Tensor("float32", 4.0))
    case("layerNormalization", "float32 all elements alike", input=Tensor(
        "float32", [3.0] * 8, (2, 4)), options={"bias": Tensor("float32", [1.0, 2.0, 3.0, 4.0])})


def make():
    batches()
    instances()
    layers()
