"""Operators of the survey that add up: convolutions, products, reductions, pools, recurrent layers.

Each function draws one case. ROWS has for each: family, operator, how many of a deck, the function.
"""
import math

from single import LENGTHS, WIDTHS, TooLarge


def window(s, spatial):
    """Mostly square, up to 16."""
    size = s.random.choices([1, 2, 3, 4, 5, 7, 9, 11, 13, 16], [24, 6, 36, 4, 12, 8, 3, 3, 2, 2])[0]
    if spatial == 3:
        size = min(size, 5)
    if spatial > 1 and s.chance(0.12):
        return [s.choice([1, 3, size])] + [size] * (spatial - 1)
    return [size] * spatial


def conv_operands(s, data_type, shape, filters, kernel, groups, bias):
    per_group = shape[1] // groups
    s.input(shape, data_type)
    s.weights([filters, per_group, *kernel], data_type, per_group * math.prod(kernel))
    if bias:
        s.weights([filters], data_type)


def slide(s, shape, kernel, dilate=True):
    """Draws stride, padding and dilation as attributes; returns the output's sides."""
    spatial = len(kernel)
    dilation = s.choice([2, 3]) if dilate and max(kernel) in (2, 3, 5) and s.chance(0.12) else 1
    stride = s.random.choices([1, 2, 3, 4], [66, 26, 3, 5])[0]
    spans = [dilation * (k - 1) + 1 for k in kernel]
    pads = [span // 2 for span in spans] if s.chance(0.75) else [0] * spatial
    out = [(n + 2 * p - span) // stride + 1 for n, p, span in zip(shape[2:], pads, spans)]
    if min(out) < 1:
        raise TooLarge
    s.attributes |= {"kernel_shape": kernel, "strides": [stride] * spatial, "pads": pads * 2}
    if dilation > 1:
        s.attributes["dilations"] = [dilation] * spatial
    return out


def conv(s, spatial=2, grouping="none", data_type=None):
    shape, kernel = s.image(spatial), window(s, spatial)
    groups, filters = 1, s.channels()
    if grouping == "depthwise":
        groups = shape[1]
        filters = groups * s.choice([1, 1, 1, 1, 2])
    elif grouping == "groups":
        groups = s.choice([2, 3, 4, 8, 16, 32])
        shape[1] = groups * s.choice([1, 2, 4, 8, 16])
        filters = groups * s.choice([1, 2, 4, 8, 16])
    if spatial == 2 and grouping == "none" and s.chance(0.2):
        shape[1] = s.choice([1, 2, 3, 4])  # pictures
    out = slide(s, shape, kernel)
    products = shape[0] * math.prod(out) * filters * shape[1] // groups * math.prod(kernel)
    s.bound(elements=shape[0] * filters * math.prod(out), products=products)
    if groups > 1:
        s.attributes["group"] = groups
    conv_operands(s, data_type or s.float_type(), shape, filters, kernel, groups, s.chance(0.7))


def conv_transpose(s, spatial=2):
    shape, filters = s.image(spatial), s.channels()
    if s.chance(0.3):
        filters = s.choice([1, 2, 3])
    if s.chance(0.15):
        shape[1] = s.choice([1, 2, 3])
    stride = s.choice([1, 2, 2, 2, 2, 3, 4])
    kernel = [s.choice([1, 2, 2, 3, 4, 4, 5, 8] if spatial < 3 else [2, 3])] * spatial
    pads = [max(0, (k - stride) // 2) for k in kernel]
    out = [(n - 1) * stride + k - 2 * p for n, k, p in zip(shape[2:], kernel, pads)]
    groups = shape[1] if s.chance(0.12) else 1
    if groups > 1:
        filters, s.attributes["group"] = groups, groups
    s.bound(elements=shape[0] * filters * math.prod(out),
            products=math.prod(shape) * filters // groups * math.prod(kernel))
    s.attributes |= {"kernel_shape": kernel, "strides": [stride] * spatial, "pads": pads * 2}
    s.input(shape)
    s.weights([shape[1], filters // groups, *kernel], terms=shape[1] * math.prod(kernel))
    if s.chance(0.7):
        s.weights([filters])


def matrices(s):
    """Shapes of two operands: a layer's, an attention's, vectors', of any small and odd size."""
    kind = s.random.choices(["layer", "attention", "vector", "odd", "broadcast"], [40, 20, 15, 15, 10])[0]
    m, k, n = s.choice(LENGTHS), s.choice(WIDTHS), s.choice([*WIDTHS, 10, 1000, 3072])
    if kind == "attention":
        batch, heads, depth = s.batch(), s.choice([1, 4, 8, 12]), s.choice([32, 64])
        lead, m, k, n = [batch, heads], m, depth, s.choice(LENGTHS)
        if s.chance(0.5):
            k, n = n, k
        return [*lead, m, k], [*lead, k, n], batch * heads * m * k * n
    if kind == "vector":
        return s.choice([([k], [k, n], k * n), ([1, k], [k, n], k * n), ([m, k], [k], m * k), ([m, k], [k, 1], m * k)])
    if kind == "odd":
        m, k, n = (s.random.randint(1, 200) for _ in range(3))
        return [m, k], [k, n], m * k * n
    if kind == "broadcast":
        many = s.choice([3, 8, 16])
        k, n = s.choice([16, 64, 256]), s.choice([16, 64, 256])
        a, b, more = s.choice([([many, 1, m, k], [4, k, n], 4), ([m, k], [many, k, n], 1), ([1, m, k], [many, k, n], 1)])
        return a, b, many * more * m * k * n
    lead = [s.batch()] if s.chance(0.6) else []
    return [*lead, m, k], [k, n], math.prod(lead) * m * k * n


def matmul(s):
    a, b, products = matrices(s)
    s.bound(products=products)
    data_type = s.float_type()
    s.input(a, data_type)
    if s.chance(0.5):
        s.weights(b, data_type, b[0])
    else:
        s.input(b, data_type)


def gemm(s):
    m, k, n = s.choice([1, 1, 4, 32, 100, 128, 512]), s.choice(WIDTHS), s.choice([1, 10, 100, *WIDTHS, 1000, 4096])
    if s.chance(0.25):
        m, k, n = (s.random.randint(1, 200) for _ in range(3))
    s.bound(products=m * k * n)
    trans_a, trans_b = s.chance(0.2), s.chance(0.6)
    s.attributes = {"transA": 1} if trans_a else {}
    s.attributes |= {"transB": 1} if trans_b else {}
    if s.chance(0.15):
        s.attributes["alpha"] = 0.5
    data_type = s.float_type()
    s.input([k, m] if trans_a else [m, k], data_type)
    shape = [n, k] if trans_b else [k, n]
    s.weights(shape, data_type, k) if s.chance(0.8) else s.input(shape, data_type)
    if s.chance(0.8):
        s.weights(s.choice([[n], [n], [m, n], [1, n], [m, 1]]), data_type)


def einsum(s):
    b, h, i, j, d = s.batch(), s.choice([4, 8, 12]), s.choice(LENGTHS), s.choice(LENGTHS), s.choice([32, 64])
    s.bound(products=b * h * i * j * d)
    equation, x, y = s.choice([("bhid,bhjd->bhij", [b, h, i, d], [b, h, j, d]),
                               ("bihd,bjhd->bhij", [b, i, h, d], [b, j, h, d]),
                               ("bhij,bjhd->bihd", [b, h, i, j], [b, j, h, d])])
    s.attributes["equation"] = equation
    s.input(x)
    s.input(y)


# Quantized. Scales spread the results over the 256 steps.

def scale_and_zero(s, data_type, scale=0.02, channels=None):
    s.constant(scale if channels is None else [scale] * channels, "float32")
    s.constant(0 if channels is None else [0] * channels, data_type)


def quantized_matrices(s):
    m, k, n = s.choice(LENGTHS), s.choice(WIDTHS), s.choice(WIDTHS)
    s.bound(products=m * k * n)
    return [s.batch(), m, k] if s.chance(0.5) and m < 200 else [m, k], [k, n]


def matmul_integer(s):
    a, b = quantized_matrices(s)
    s.input(a, "uint8")
    s.weights(b, s.choice(["int8", "uint8"])) if s.chance(0.8) else s.input(b, "uint8")


def qlinear_matmul(s):
    a, b = quantized_matrices(s)
    s.input(a, "uint8")
    scale_and_zero(s, "uint8")
    weights = s.choice(["int8", "uint8"])
    s.weights(b, weights)
    scale_and_zero(s, weights)
    scale_and_zero(s, "uint8", b[0] * 0.0002)


def quantized_conv_shape(s):
    shape, kernel, filters = s.image(), window(s, 2), s.channels()
    groups = shape[1] if s.chance(0.2) else 1
    filters = groups if groups > 1 else filters
    out = slide(s, shape, kernel, dilate=False)
    s.bound(elements=shape[0] * filters * math.prod(out),
            products=shape[0] * math.prod(out) * filters * shape[1] // groups * math.prod(kernel))
    if groups > 1:
        s.attributes["group"] = groups
    return shape, [filters, shape[1] // groups, *kernel]


def conv_integer(s):
    shape, weights = quantized_conv_shape(s)
    s.input(shape, "uint8")
    s.weights(weights, "uint8")


def qlinear_conv(s):
    shape, weights = quantized_conv_shape(s)
    s.input(shape, "uint8")
    scale_and_zero(s, "uint8")
    data_type = s.choice(["int8", "uint8"])
    s.weights(weights, data_type)
    scale_and_zero(s, data_type, channels=weights[0] if data_type == "int8" and s.chance(0.5) else None)
    scale_and_zero(s, "uint8", math.prod(weights[1:]) * 0.0002)
    if s.chance(0.7):
        s.constant(s.numbers.integers(-100, 100, weights[0]), "int32")


def quantize_linear(s):
    shape, data_type = s.tensor(), s.choice(["uint8", "int8"])
    s.input(shape)
    per_axis = len(shape) > 1 and s.chance(0.3)
    scale_and_zero(s, data_type, 0.007, shape[1] if per_axis else None)


def dequantize_linear(s):
    shape, data_type = s.tensor(), s.choice(["uint8", "int8", "int32"])
    s.input(shape, data_type)
    per_axis = len(shape) > 1 and s.chance(0.3)
    scale_and_zero(s, data_type, 0.007, shape[1] if per_axis else None)


def dynamic_quantize(s):
    s.input(s.tensor())
    s.results = 3


# Reductions, and other operators along an axis.

def reduce(s):
    shape = s.tensor()
    kind = s.choice(["inner", "outer", "one", "one", "several", "all"])
    rank = len(shape)
    axes = {"inner": list(range(s.axis(shape), rank)), "outer": list(range(s.axis(shape) + 1)),
            "one": [s.axis(shape)], "several": sorted(s.random.sample(range(rank), s.random.randint(1, rank))),
            "all": list(range(rank))}[kind]
    if s.operator == "ReduceProd" and math.prod(shape[a] for a in axes) > 64:
        raise TooLarge  # products of numbers below 1 would be subnormal
    data_type = s.float_type()
    if s.operator in ("ReduceSum", "ReduceMax", "ReduceMin") and s.chance(0.15):
        data_type = s.choice(["int32", "int64"])
    s.input(shape, data_type)
    s.attributes["keepdims"] = s.choice([0, 1])
    if s.operator == "ReduceSum":
        s.constant(axes)
    else:
        s.attributes["axes"] = axes


def arg_extreme(s):
    shape = s.tensor()
    s.input(shape, "int32" if s.chance(0.1) else "float32")
    s.attributes = {"axis": s.axis(shape), "keepdims": s.choice([0, 1])}


def softmax(s):
    shape = s.choice([s.scores, s.tensor])()
    s.input(shape, s.float_type())
    s.attributes["axis"] = len(shape) - 1 if s.chance(0.5) else s.axis(shape)


def cumsum(s):
    shape = s.tensor()
    s.input(shape)
    s.constant(s.axis(shape))
    s.attributes = {"reverse": 1} if s.chance(0.3) else {}


def layer_normalization(s):
    shape = s.tokens() if s.chance(0.75) else s.tensor(2)
    data_type = s.float_type()
    axis = len(shape) - 1 if s.chance(0.8) else s.random.randint(1, len(shape) - 1)
    s.input(shape, data_type)
    s.weights(shape[axis:], data_type)
    if s.chance(0.85):
        s.weights(shape[axis:], data_type)
    s.attributes["axis"] = axis - len(shape)


def instance_normalization(s):
    shape = s.image(s.choice([1, 2, 2, 2]))
    if s.chance(0.4):  # a group normalization, as exporters write it before opset 18
        groups = s.choice([1, 8, 16, 32])
        shape = [1, groups, s.choice([1, 2, 4, 8]) * math.prod(shape[2:])]
    s.input(shape)
    s.weights(shape[1:2])
    s.weights(shape[1:2])


def batch_normalization(s):
    shape = s.image(s.choice([1, 2, 2, 2])) if s.chance(0.8) else s.tokens()[1:]
    s.input(shape)
    for _ in range(3):
        s.weights(shape[1:2])
    s.constant(s.numbers.uniform(0.5, 2, shape[1]), "float32")


def lrn(s):
    s.input(s.image())
    s.attributes = {"size": s.choice([3, 5]), "alpha": 1e-4, "beta": 0.75}


def pool(s):
    spatial = s.random.choices([1, 2, 3], [20, 72, 8])[0]
    shape = s.image(spatial)
    if s.chance(0.3):
        shape[1] = s.choice([1, 2, 3])
    size = s.choice([2, 2, 3, 3, 3, 5, 7, 9, 13] if spatial < 3 else [2, 3])
    kernel, stride = [size] * spatial, s.choice([1, 2, size])
    pads = [size // 2 if s.chance(0.6) else 0] * spatial
    out = [(n + 2 * p - size) // stride + 1 for n, p in zip(shape[2:], pads)]
    if min(out) < 1:
        raise TooLarge
    s.bound(products=shape[0] * shape[1] * math.prod(out) * size**spatial)
    s.attributes = {"kernel_shape": kernel, "strides": [stride] * spatial, "pads": pads * 2}
    if s.operator == "AveragePool" and s.chance(0.4):
        s.attributes["count_include_pad"] = 1
    s.input(shape)


def global_pool(s):
    s.input(s.image(s.choice([1, 2, 2, 2])))


def recurrent(s):
    steps, inputs, hidden = s.choice([1, 10, 25, 50, 100]), s.choice([1, 16, 64, 128, 256]), s.choice([16, 64, 128, 256])
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[s.operator]
    both = s.chance(0.3)
    directions, batch = 1 + both, s.choice([1, 1, 4, 16])
    s.bound(products=steps * batch * directions * gates * hidden * (inputs + hidden))
    s.input([steps, batch, inputs])
    s.weights([directions, gates * hidden, inputs], terms=inputs)
    s.weights([directions, gates * hidden, hidden], terms=hidden)
    if s.chance(0.8):
        s.weights([directions, 2 * gates * hidden])
    s.attributes = {"hidden_size": hidden, "direction": "bidirectional" if both else "forward"}
    if s.operator == "GRU" and s.chance(0.7):
        s.attributes["linear_before_reset"] = 1


ROWS = [
    ("convolution", "Conv", 17, conv),
    ("convolution", "Conv", 6, lambda s: conv(s, grouping="depthwise")),
    ("convolution", "Conv", 4, lambda s: conv(s, grouping="groups")),
    ("convolution", "Conv", 4, lambda s: conv(s, 1)),
    ("convolution", "Conv", 2, lambda s: conv(s, 1, "depthwise")),
    ("convolution", "Conv", 4, lambda s: conv(s, 3)),
    ("convolution", "ConvTranspose", 9, conv_transpose),
    ("convolution", "ConvTranspose", 2, lambda s: conv_transpose(s, 1)),
    ("convolution", "ConvTranspose", 1, lambda s: conv_transpose(s, 3)),
    ("product", "MatMul", 14, matmul),
    ("product", "Gemm", 7, gemm),
    ("product", "Einsum", 2, einsum),
    ("quantized", "MatMulInteger", 3, matmul_integer),
    ("quantized", "QLinearMatMul", 3, qlinear_matmul),
    ("quantized", "ConvInteger", 3, conv_integer),
    ("quantized", "QLinearConv", 4, qlinear_conv),
    ("quantized", "QuantizeLinear", 2, quantize_linear),
    ("quantized", "DequantizeLinear", 2, dequantize_linear),
    ("quantized", "DynamicQuantizeLinear", 1, dynamic_quantize),
    ("reduction", "ReduceSum", 4, reduce),
    ("reduction", "ReduceMean", 4, reduce),
    ("reduction", "ReduceMax", 3, reduce),
    *[("reduction", name, 1, reduce) for name in
      ["ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"]],
    ("reduction", "ArgMax", 3, arg_extreme),
    ("reduction", "ArgMin", 1, arg_extreme),
    ("reduction", "Softmax", 5, softmax),
    ("reduction", "LogSoftmax", 2, softmax),
    ("reduction", "CumSum", 2, cumsum),
    ("normalization", "LayerNormalization", 4, layer_normalization),
    ("normalization", "InstanceNormalization", 4, instance_normalization),
    ("normalization", "BatchNormalization", 3, batch_normalization),
    ("normalization", "LRN", 1, lrn),
    ("pooling", "MaxPool", 7, pool),
    ("pooling", "AveragePool", 6, pool),
    ("pooling", "GlobalAveragePool", 2, global_pool),
    ("pooling", "GlobalMaxPool", 1, global_pool),
    ("pooling", "LpPool", 1, pool),
    ("recurrent", "LSTM", 3, recurrent),
    ("recurrent", "GRU", 2, recurrent),
    ("recurrent", "RNN", 1, recurrent),
]
