"""Convolutions and transposed convolutions, from their definition: each output element is a sum
over the filter, each input element adds to the outputs that its filter reaches."""
import itertools

import numpy as np

from .core import Numbers, Tensor, case, formula, ulp

# From the layouts to oihw and iohw, for numpy.transpose.
CONV_FILTERS = {"oihw": (0, 1, 2, 3), "hwio": (3, 2, 0, 1), "ohwi": (0, 3, 1, 2),
                "ihwo": (3, 0, 1, 2)}
TRANSPOSE_FILTERS = {"iohw": (0, 1, 2, 3), "hwoi": (3, 2, 0, 1), "ohwi": (3, 0, 1, 2)}


def nchw(array, layout):
    return array.transpose(0, 3, 1, 2) if layout == "nhwc" else array


def back(array, layout):
    return array.transpose(0, 2, 3, 1) if layout == "nhwc" else array


def inverse(permutation):
    return tuple(int(i) for i in np.argsort(permutation))


def conv_terms(filter, filterLayout="oihw", **_):
    _, i, h, w = filter.a.transpose(CONV_FILTERS[filterLayout]).shape
    return ulp(2 * i * h * w)


@formula("conv2d", tolerance=conv_terms)
def conv2d(input, filter, padding=(0, 0, 0, 0), strides=(1, 1), dilations=(1, 1), groups=1,
           inputLayout="nchw", filterLayout="oihw", bias=None):
    x = nchw(input.a, inputLayout)
    w = filter.a.transpose(CONV_FILTERS[filterLayout])
    x = np.pad(x, ((0, 0), (0, 0), padding[0:2], padding[2:4]))
    count, _, height, width = x.shape
    out, per_group, kh, kw = w.shape
    rows = (height - (kh - 1) * dilations[0] - 1) // strides[0] + 1
    columns = (width - (kw - 1) * dilations[1] - 1) // strides[1] + 1
    result = np.zeros((count, out, rows, columns))
    for o, r, c in itertools.product(range(out), range(rows), range(columns)):
        first = o // (out // groups) * per_group
        for i, j in itertools.product(range(kh), range(kw)):
            seen = x[:, first:first + per_group, r * strides[0] + i * dilations[0],
                     c * strides[1] + j * dilations[1]]
            result[:, o, r, c] += seen @ w[o, :, i, j]
    if bias is not None:
        result += bias.a[:, None, None]
    return Tensor(input.kind, back(result, inputLayout))


def transpose_terms(input, filter, groups=1, inputLayout="nchw", filterLayout="iohw", **_):
    i, _, h, w = filter.a.transpose(TRANSPOSE_FILTERS[filterLayout]).shape
    return ulp(2 * i // groups * h * w)


@formula("convTranspose2d", tolerance=transpose_terms)
def conv_transpose2d(input, filter, padding=(0, 0, 0, 0), strides=(1, 1), dilations=(1, 1),
                     outputPadding=(0, 0), outputSizes=None, groups=1, inputLayout="nchw",
                     filterLayout="iohw", bias=None):
    x = nchw(input.a, inputLayout)
    w = filter.a.transpose(TRANSPOSE_FILTERS[filterLayout])
    count, channels, height, width = x.shape
    _, per_group, kh, kw = w.shape
    sizes = [(n - 1) * strides[d] + (k - 1) * dilations[d] + 1 - padding[2 * d]
             - padding[2 * d + 1] + outputPadding[d]
             for d, (n, k) in enumerate(((height, kh), (width, kw)))]
    sizes = outputSizes or sizes
    result = np.zeros((count, per_group * groups, *sizes))
    for ch, r, c in itertools.product(range(channels), range(height), range(width)):
        first = ch // (channels // groups) * per_group
        for i, j in itertools.product(range(kh), range(kw)):
            row = r * strides[0] + i * dilations[0] - padding[0]
            column = c * strides[1] + j * dilations[1] - padding[2]
            if 0 <= row < sizes[0] and 0 <= column < sizes[1]:
                result[:, first:first + per_group, row, column] += np.outer(
                    x[:, ch, r, c], w[ch, :, i, j])
    if bias is not None:
        result += bias.a[:, None, None]
    return Tensor(input.kind, back(result, inputLayout))


def operand(numbers, kind, shape, permutation, constant):
    """A tensor drawn in the first layout, laid out in the other."""
    drawn = numbers.whole(-8, 8, kind, shape)
    drawn = Tensor(kind, drawn.a / 4)
    tensor = Tensor(kind, drawn.a.transpose(permutation))
    return tensor.as_constant() if constant else tensor


def adder(op, filters):
    default = next(iter(filters))

    def add(label, kind="float32", x=(1, 2, 4, 5), w=(3, 2, 2, 3), bias=False, constant=True,
            **options):
        numbers = Numbers(f"{op} {label}")
        layout = options.get("inputLayout", "nchw")
        filter_layout = options.get("filterLayout", default)
        order = (0, 2, 3, 1) if layout == "nhwc" else (0, 1, 2, 3)
        given = {
            "input": operand(numbers, kind, x, order, False),
            "filter": operand(numbers, kind, w, inverse(filters[filter_layout]), constant),
        }
        if bias:
            outputs = w[0] if op == "conv2d" else w[1] * options.get("groups", 1)
            drawn = numbers.eighths(-3, 3, kind, (outputs,))
            options["bias"] = drawn.as_constant() if constant else drawn
        case(op, f"{kind} {label}", **given, **({"options": options} if options else {}))
    return add


def convolutions():
    add = adder("conv2d", CONV_FILTERS)
    add("plain")
    add("filter is an input", constant=False)
    add("bias", bias=True)
    add("bias is an input", bias=True, constant=False)
    add("padding on four sides", padding=[1, 0, 2, 1], x=(1, 1, 3, 4), w=(2, 1, 3, 2))
    add("strides", strides=[2, 3], x=(1, 2, 6, 8), w=(1, 2, 2, 3))
    add("dilations", dilations=[2, 1], x=(1, 1, 6, 4), w=(2, 1, 3, 2))
    add("dilations both ways", dilations=[3, 2], x=(1, 1, 5, 6), w=(2, 1, 2, 3),
        padding=[1, 1, 0, 2])
    add("groups", groups=2, x=(1, 4, 3, 3), w=(6, 2, 2, 1))
    add("groups with a bias", groups=3, x=(2, 3, 3, 2), w=(6, 1, 2, 2), bias=True)
    add("depthwise", groups=4, x=(1, 4, 4, 3), w=(4, 1, 3, 2), padding=[1, 1, 1, 0])
    add("depthwise, strides", groups=3, x=(1, 3, 5, 6), w=(3, 1, 3, 3), strides=[2, 1])
    add("depthwise", "float16", groups=3, x=(1, 3, 4, 3), w=(3, 1, 2, 3), bias=True)
    add("one by one", x=(2, 3, 2, 4), w=(4, 3, 1, 1), bias=True)
    add("filter as large as the input", x=(1, 2, 3, 4), w=(5, 2, 3, 4))
    add("several pictures", x=(3, 1, 3, 2), w=(2, 1, 2, 2))
    add("half", "float16", bias=True, padding=[0, 1, 1, 0])
    for layout in CONV_FILTERS:
        for input_layout in ("nchw", "nhwc"):
            add(f"{input_layout}, {layout}", inputLayout=input_layout, filterLayout=layout,
                x=(1, 2, 3, 5), w=(3, 2, 2, 4), bias=True)
        add(f"nhwc, {layout}, groups", inputLayout="nhwc", filterLayout=layout, groups=2,
            x=(1, 4, 3, 2), w=(6, 2, 2, 1), constant=False)
    add("nhwc, ihwo, depthwise", inputLayout="nhwc", filterLayout="ihwo", groups=3,
        x=(1, 3, 4, 5), w=(3, 1, 3, 2), strides=[1, 2], bias=True)
    add("nhwc, hwio, depthwise with a multiplier", inputLayout="nhwc", filterLayout="hwio",
        groups=2, x=(1, 2, 4, 3), w=(4, 1, 2, 2))
    add("everything", x=(2, 4, 5, 6), w=(2, 2, 2, 3), padding=[1, 0, 2, 1], strides=[2, 3],
        dilations=[2, 1], groups=2, bias=True)
    add("everything", "float16", x=(1, 4, 5, 6), w=(2, 2, 2, 3), padding=[1, 0, 2, 1],
        strides=[2, 3], dilations=[2, 1], groups=2, inputLayout="nhwc", filterLayout="ohwi",
        bias=True)
    add("many channels", x=(1, 17, 1, 2), w=(3, 17, 1, 1))


def transposed():
    add = adder("convTranspose2d", TRANSPOSE_FILTERS)
    small, filter_ = (1, 2, 2, 3), (2, 3, 3, 2)
    add("plain", x=small, w=filter_)
    add("filter is an input", x=small, w=filter_, constant=False)
    add("bias", x=small, w=filter_, bias=True)
    add("strides", x=small, w=(2, 1, 2, 3), strides=[2, 3])
    add("padding on four sides", x=(1, 1, 3, 4), w=(1, 2, 3, 3), padding=[1, 0, 0, 2])
    add("dilations", x=(1, 1, 2, 3), w=(1, 2, 2, 3), dilations=[3, 2])
    add("output padding", x=small, w=(2, 1, 2, 2), strides=[3, 2], outputPadding=[2, 1])
    add("output sizes", x=small, w=(2, 1, 2, 2), strides=[3, 2], outputSizes=[6, 7])
    add("output sizes go before output padding", x=small, w=(2, 1, 2, 2), strides=[3, 2],
        outputPadding=[1, 0], outputSizes=[7, 6])
    add("output sizes and padding", x=(1, 1, 3, 3), w=(1, 1, 3, 2), strides=[2, 3],
        padding=[1, 1, 0, 1], outputSizes=[6, 8])
    add("groups", x=(1, 4, 2, 3), w=(4, 3, 2, 1), groups=2)
    add("groups with a bias", x=(2, 3, 2, 2), w=(3, 2, 1, 2), groups=3, bias=True)
    add("depthwise", x=(1, 3, 3, 2), w=(3, 1, 2, 3), groups=3, strides=[1, 2])
    add("one by one", x=(2, 3, 2, 2), w=(3, 4, 1, 1), bias=True)
    add("half", "float16", x=small, w=filter_, strides=[2, 1], bias=True)
    add("several pictures", x=(3, 1, 2, 2), w=(1, 2, 2, 1))
    for layout in TRANSPOSE_FILTERS:
        for input_layout in ("nchw", "nhwc"):
            add(f"{input_layout}, {layout}", x=(1, 2, 3, 2), w=(2, 3, 2, 4), bias=True,
                inputLayout=input_layout, filterLayout=layout)
        add(f"nhwc, {layout}, groups", x=(1, 4, 2, 1), w=(4, 3, 1, 2), groups=2,
            inputLayout="nhwc", filterLayout=layout, constant=False)
    add("everything", x=(2, 4, 2, 3), w=(4, 1, 2, 3), padding=[1, 0, 2, 1], strides=[3, 2],
        dilations=[2, 1], outputPadding=[2, 1], groups=2, bias=True)
    add("everything", "float16", x=(1, 4, 2, 3), w=(4, 1, 2, 3), padding=[1, 0, 2, 1],
        strides=[3, 2], dilations=[2, 1], outputPadding=[1, 0], groups=2, bias=True,
        inputLayout="nhwc", filterLayout="hwoi")


def make():
    convolutions()
    transposed()
