"""The models that the benchmarks run, at their true shapes, as PyTorch's exporter writes them."""
import math

import numpy as np
from onnx import TensorProto

from graph import Graph


def resnet50(seed):
    g = Graph("resnet50", 13, seed)

    def bottleneck(x, channels, width, stride):
        y = g.add("Relu", g.conv(x, channels, width, 1))
        y = g.add("Relu", g.conv(y, width, width, 3, stride))
        # A block adds little to its input: otherwise 16 of them would double it 16 times.
        y = g.conv(y, width, 4 * width, 1, gain=0.5)
        if channels != 4 * width:
            x = g.conv(x, channels, 4 * width, 1, stride, gain=1.0)
        return g.add("Relu", g.add("Add", y, x))

    x = g.add("Relu", g.conv(g.input("input", [1, 3, 224, 224]), 3, 64, 7, 2))
    x = g.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=0)
    channels = 64
    for width, blocks, stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for block in range(blocks):
            x = bottleneck(x, channels, width, stride if block == 0 else 1)
            channels = 4 * width
    x = g.add("Flatten", g.add("GlobalAveragePool", x), axis=1)
    return g.model(g.gemm(x, 2048, 1000), "output", [1, 1000])


def mobilenet_v2(seed):
    g = Graph("mobilenet_v2", 13, seed)

    def relu6(x):
        return g.add("Clip", x, g.scalar(0), g.scalar(6))

    def inverted_residual(x, channels, filters, stride, expansion):
        y, hidden = x, channels * expansion
        if expansion != 1:
            y = relu6(g.conv(y, channels, hidden, 1))
        y = relu6(g.conv(y, hidden, hidden, 3, stride, groups=hidden))
        y = g.conv(y, hidden, filters, 1, gain=1.0)
        return g.add("Add", x, y) if stride == 1 and channels == filters else y

    x = relu6(g.conv(g.input("input", [1, 3, 224, 224]), 3, 32, 3, 2))
    channels = 32
    for expansion, filters, blocks, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                               (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(blocks):
            x = inverted_residual(x, channels, filters, stride if block == 0 else 1, expansion)
            channels = filters
    x = relu6(g.conv(x, 320, 1280, 1))
    x = g.add("Flatten", g.add("GlobalAveragePool", x), axis=1)
    return g.model(g.gemm(x, 1280, 1000), "output", [1, 1000])


def encoder(name, seed, layers, hidden, heads, inner, opset, tokens=128):
    """A BERT encoder after its embedding, which is a table lookup and no work to measure."""
    g = Graph(name, opset, seed)

    def dense(x, inputs, outputs):
        # PyTorch's linear layer over three dimensions: a product and, bias first, a sum.
        product = g.add("MatMul", x, g.normal((inputs, outputs), 1 / math.sqrt(inputs)))
        return g.add("Add", g.normal(outputs, 0.1), product)

    def layer_norm(x):
        scale = g.weight(g.random.normal(1, 0.1, hidden).astype(np.float32))
        bias = g.normal(hidden, 0.1)
        if opset >= 17:
            return g.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)
        centred = g.add("Sub", x, g.add("ReduceMean", x, axes=[-1]))  # as older exporters take it apart
        variance = g.add("ReduceMean", g.add("Pow", centred, g.scalar(2)), axes=[-1])
        deviation = g.add("Sqrt", g.add("Add", variance, g.scalar(1e-12)))
        return g.add("Add", g.add("Mul", g.add("Div", centred, deviation), scale), bias)

    def gelu(x):
        erf = g.add("Erf", g.add("Div", x, g.scalar(math.sqrt(2))))
        return g.add("Mul", g.add("Mul", x, g.add("Add", erf, g.scalar(1))), g.scalar(0.5))

    def split_heads(x, order):
        heads_apart = g.add("Reshape", x, g.shape(1, tokens, heads, hidden // heads))
        return g.add("Transpose", heads_apart, perm=order)

    def attention(x, mask):
        query = split_heads(dense(x, hidden, hidden), [0, 2, 1, 3])
        key = split_heads(dense(x, hidden, hidden), [0, 2, 3, 1])
        value = split_heads(dense(x, hidden, hidden), [0, 2, 1, 3])
        scores = g.add("Div", g.add("MatMul", query, key), g.scalar(math.sqrt(hidden // heads)))
        weights = g.add("Softmax", g.add("Add", scores, mask), axis=-1)
        joined = g.add("Transpose", g.add("MatMul", weights, value), perm=[0, 2, 1, 3])
        return dense(g.add("Reshape", joined, g.shape(1, tokens, hidden)), hidden, hidden)

    x = g.input("hidden_states", [1, tokens, hidden])
    ones = g.input("attention_mask", [1, tokens], TensorProto.INT64)
    ones = g.add("Unsqueeze", g.add("Unsqueeze", ones, g.shape(1)), g.shape(2))
    hidden_ones = g.add("Sub", g.scalar(1), g.add("Cast", ones, to=TensorProto.FLOAT))
    mask = g.add("Mul", hidden_ones, g.scalar(-10000))
    x = layer_norm(x)
    for _ in range(layers):
        x = layer_norm(g.add("Add", attention(x, mask), x))
        x = layer_norm(g.add("Add", dense(gelu(dense(x, hidden, inner)), inner, hidden), x))
    return g.model(x, "last_hidden_state", [1, tokens, hidden])


def mlp(seed):
    g = Graph("mlp", 13, seed)
    x = g.add("Relu", g.gemm(g.input("input", [1, 784]), 784, 128, math.sqrt(2)))
    x = g.add("Relu", g.gemm(x, 128, 64, math.sqrt(2)))
    return g.model(g.gemm(x, 64, 10), "output", [1, 10])


def add(seed):
    g = Graph("add", 13, seed)
    return g.model(g.add("Add", g.input("a", [4]), g.input("b", [4])), "c", [4])


NETWORKS = {
    "resnet50": resnet50,
    "mobilenet_v2": mobilenet_v2,
    # The two ways in which exporters write a layer normalization: in parts before opset 17, whole since.
    "minilm": lambda seed: encoder("minilm", seed, 6, 384, 12, 1536, opset=14),
    "bert": lambda seed: encoder("bert", seed, 12, 768, 12, 3072, opset=17),
    "mlp": mlp,
    "add": add,
}
