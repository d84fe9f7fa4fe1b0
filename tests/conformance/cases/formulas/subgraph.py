"""Graphs of several operators: passes fuse, fold and share, and must not change a number."""
from .core import NAN, Graph, Numbers, Tensor


class Chain:
    """A graph in which each operator takes the one before's result."""

    def __init__(self, name):
        self.graph = Graph("subgraph", name)
        self.numbers = Numbers(name)

    def input(self, name, kind, shape, low=-2, high=2):
        return self.graph.input(name, self.numbers.eighths(low, high, kind, shape))

    def constant(self, name, kind, shape, low=-2, high=2):
        drawn = self.numbers.eighths(low, high, kind, shape).as_constant()
        return self.graph.input(name, drawn)

    def __call__(self, op, *operands, **arguments):
        names = {"where": ("condition", "trueValue", "falseValue"), "prelu": ("input", "slope"),
                 "conv2d": ("input", "filter"), "convTranspose2d": ("input", "filter"),
                 "gather": ("input", "indices"), "gatherElements": ("input", "indices"),
                 "quantizeLinear": ("input", "scale", "zeroPoint"),
                 "dequantizeLinear": ("input", "scale", "zeroPoint"), "concat": ("inputs",)}
        two = ("a", "b") if len(operands) == 2 or op in ("isNaN", "logicalNot") else ("input",)
        return self.graph.call(op, {**dict(zip(names.get(op, two), operands)), **arguments})

    def end(self, *outputs, **limits):
        self.graph.output(*outputs, **limits)


def activations_after():
    """A convolution or product, and operators that may run in its own loop."""
    for kind in ("float32", "float16"):
        for op, options in (("relu", {}), ("clamp", {"minValue": -1.5, "maxValue": 2.5}),
                            ("leakyRelu", {"alpha": 0.25}), ("hardSwish", {})):
            if kind == "float16" and op != "relu":
                continue
            c = Chain(f"{kind} conv2d, bias, {op}")
            x = c.input("x", kind, (1, 2, 4, 3))
            w, b = c.constant("w", kind, (3, 2, 2, 2)), c.constant("bias", kind, (3,))
            y = c("conv2d", x, w, options={"bias": b, "padding": [1, 0, 0, 1]})
            c.end(c(op, y, **({"options": options} if options else {})))
        c = Chain(f"{kind} matmul, add of a row, relu")
        a, b = c.input("x", kind, (2, 3, 4)), c.constant("w", kind, (4, 5))
        c.end(c("relu", c("add", c("matmul", a, b), c.constant("row", kind, (5,)))))
    c = Chain("float32 gemm, relu, gemm")
    x = c.input("x", "float32", (3, 4))
    y = c("relu", c("gemm", x, c.constant("w0", "float32", (4, 5)),
                    options={"c": c.constant("c0", "float32", (5,))}))
    c.end(c("gemm", y, c.constant("w1", "float32", (2, 5)),
            options={"bTranspose": True, "c": c.constant("c1", "float32", (1, 2))}))
    c = Chain("float32 conv2d, the result used twice")
    x = c.input("x", "float32", (1, 2, 3, 3))
    y = c("conv2d", x, c.constant("w", "float32", (2, 2, 1, 1)))
    c.end(c("add", c("relu", y), c("mul", y, y)))
    c = Chain("float32 conv2d, sum with its input, relu")
    x = c.input("x", "float32", (1, 2, 3, 4))
    y = c("conv2d", x, c.constant("w", "float32", (2, 2, 3, 3)), options={"padding": [1, 1, 1, 1]})
    c.end(c("relu", c("add", y, x)))
    c = Chain("float32 conv2d, relu; both are outputs")
    y = c("conv2d", c.input("x", "float32", (1, 1, 4, 3)), c.constant("w", "float32", (2, 1, 2, 2)))
    c.end(y, c("relu", y))
    c = Chain("float32 convTranspose2d, relu, conv2d")
    y = c("convTranspose2d", c.input("x", "float32", (1, 2, 2, 3)),
          c.constant("w0", "float32", (2, 3, 2, 2)), options={"strides": [2, 2]})
    c.end(c("conv2d", c("relu", y), c.constant("w1", "float32", (1, 3, 3, 2))))
    c = Chain("float32 conv2d, a row a channel is multiplied and added")
    y = c("conv2d", c.input("x", "float32", (1, 2, 3, 4)), c.constant("w", "float32", (3, 2, 2, 2)))
    y = c("mul", y, c.constant("m", "float32", (1, 3, 1, 1)))
    c.end(c("add", y, c.constant("s", "float32", (3, 1, 1))))


def shared_and_kept():
    """Operands used again, intermediates that are outputs, results that are equal."""
    c = Chain("float32 the same operand everywhere")
    x = c.input("x", "float32", (2, 3))
    c.end(c("mul", c("add", x, x), c("add", x, x)))
    c = Chain("float32 every intermediate is an output")
    x = c.input("x", "float32", (4,))
    y = c("add", x, c.constant("one", "float32", (), 1, 1))
    z = c("mul", y, y)
    c.end(y, z, c("neg", z))
    c = Chain("float32 two outputs of the same kind")
    x = c.input("x", "float32", (2, 3))
    c.end(c("relu", x), c("relu", x))
    c = Chain("float32 a value is used after its square")
    x = c.input("x", "float32", (5,))
    y = c("abs", x)
    z = c("mul", y, y)
    c.end(c("add", c("sub", z, y), c("add", y, z)))
    c = Chain("float32 split, each part another way, concat")
    x = c.input("x", "float32", (2, 6))
    a, b, d = c("split", x, splits=[1, 3, 2], options={"axis": 1})
    c.end(c("concat", [c("neg", d), c("relu", b), a], axis=1))
    c = Chain("float32 a part of a split is an output")
    x = c.input("x", "float32", (4, 2))
    a, b = c("split", x, splits=2)
    c.end(a, c("add", a, b))
    c = Chain("float32 an input of a view and of a sum")
    x = c.input("x", "float32", (2, 3))
    y = c("reshape", x, newShape=[3, 2])
    c.end(c("matmul", x, y), y)
    c = Chain("int32 a sum of what is moved")
    x = c.graph.input("x", c.numbers.whole(-9, 9, "int32", (2, 3)))
    y = c("transpose", x)
    c.end(c("add", c("transpose", y), c("reverse", x)))


def movements():
    """Movements one after the other, and those that cancel."""
    c = Chain("float32 transposed there and back")
    x = c.input("x", "float32", (2, 3, 4))
    y = c("transpose", x, options={"permutation": [2, 0, 1]})
    c.end(c("transpose", y, options={"permutation": [1, 2, 0]}))
    c = Chain("float32 transposed twice")
    x = c.input("x", "float32", (2, 3, 4))
    y = c("transpose", x, options={"permutation": [1, 2, 0]})
    c.end(c("transpose", y, options={"permutation": [1, 2, 0]}))
    c = Chain("float32 a slice of a slice")
    x = c.input("x", "float32", (5, 7))
    y = c("slice", x, starts=[1, 1], sizes=[4, 6], options={"strides": [1, 2]})
    c.end(c("slice", y, starts=[1, 1], sizes=[3, 2], options={"strides": [2, 1]}))
    c = Chain("float32 pad, conv2d, slice")
    x = c.input("x", "float32", (1, 1, 3, 3))
    y = c("pad", x, beginningPadding=[0, 0, 1, 0], endingPadding=[0, 0, 0, 2],
          options={"value": 1.5})
    y = c("conv2d", y, c.constant("w", "float32", (2, 1, 2, 3)))
    c.end(c("slice", y, starts=[0, 1, 0, 1], sizes=[1, 1, 3, 2]))
    c = Chain("float32 pad with zeros, conv2d with padding")
    x = c.input("x", "float32", (1, 2, 3, 2))
    y = c("pad", x, beginningPadding=[0, 0, 1, 0], endingPadding=[0, 0, 0, 1])
    c.end(c("conv2d", y, c.constant("w", "float32", (1, 2, 2, 2)),
            options={"padding": [0, 1, 1, 0]}))
    c = Chain("float32 pad, averagePool2d")
    x = c.input("x", "float32", (1, 1, 3, 4), 0, 4)
    y = c("pad", x, beginningPadding=[0, 0, 1, 1], endingPadding=[0, 0, 0, 0])
    c.end(c("averagePool2d", y, options={"windowDimensions": [2, 2], "padding": [0, 1, 0, 0]}))
    c = Chain("float32 reshape, expand, transpose, reshape")
    x = c.input("x", "float32", (6,))
    y = c("expand", c("reshape", x, newShape=[2, 1, 3]), newShape=[2, 2, 3])
    c.end(c("reshape", c("transpose", y), newShape=[4, 3]))
    c = Chain("float32 transpose before a product")
    a, b = c.input("x", "float32", (2, 4, 3)), c.input("w", "float32", (2, 4, 5))
    c.end(c("matmul", c("transpose", a, options={"permutation": [0, 2, 1]}), b))
    c = Chain("float16 gather, tile, triangular")
    x = c.input("x", "float16", (4, 3))
    i = c.graph.input("i", Tensor("int64", [2, -4]))
    y = c("tile", c("gather", x, i), repetitions=[2, 1])
    c.end(c("triangular", y, options={"upper": False, "diagonal": 1}))
    c = Chain("float32 pooled in another layout")
    x = c.input("x", "float32", (1, 2, 3, 4))
    y = c("transpose", x, options={"permutation": [0, 2, 3, 1]})
    y = c("maxPool2d", y, options={"windowDimensions": [2, 2], "layout": "nhwc"})
    c.end(c("transpose", y, options={"permutation": [0, 3, 1, 2]}))


def decomposed():
    """Operators written out as the specification composes them."""
    c = Chain("float32 softmax written out")
    x = c.graph.input("x", c.numbers.decimals(-2, 2, "float32", (2, 5)))
    kept = {"axes": [1], "keepDimensions": True}
    power = c("exp", c("sub", x, c("reduceMax", x, options=kept)))
    c.end(c("div", power, c("reduceSum", power, options=kept)), allowed=15)
    c = Chain("float32 layerNormalization written out")
    x = c.graph.input("x", Tensor("float32", [[1, -3, 5, 7], [-2, 6, 4, -8], [9, 3, -5, 1]]))
    mean = c("reduceMean", x, options=kept)
    centered = c("sub", x, mean)
    two = c.constant("two", "float32", (), 2, 2)
    variance = c("reduceMean", c("pow", centered, two), options=kept)
    small = c.graph.input("epsilon", Tensor("float32", 1e-5, constant=True))
    c.end(c("div", centered, c("sqrt", c("add", variance, small))), allowed=14)
    c = Chain("float32 softsign written out, half of it")
    x = c.graph.input("x", c.numbers.decimals(-3, 3, "float32", (7,)))
    half = c.graph.input("half", Tensor("float32", 0.5, constant=True))
    one = c.graph.input("one", Tensor("float32", 1.0, constant=True))
    c.end(c("mul", half, c("div", x, c("add", one, c("abs", x)))))
    for kind in ("float32", "float16"):
        c = Chain(f"{kind} erf, tanh")  # differences are absolute in both
        x = c.graph.input("x", c.numbers.decimals(-2, 2, kind, (5,)))
        c.end(c("tanh", c("erf", x)))
    c = Chain("float32 swish written out")
    x = c.graph.input("x", c.numbers.decimals(-2, 3, "float32", (2, 3)))
    c.end(c("mul", x, c("sigmoid", x)))
    c = Chain("float32 hardSwish written out")
    x = c.input("x", "float32", (9,), -5, 5)
    three = c.constant("three", "float32", (), 3, 3)
    six = c.constant("six", "float32", (), 6, 6)
    y = c("clamp", c("add", x, three), options={"minValue": 0, "maxValue": 6})
    c.end(c("div", c("mul", x, y), six), allowed=4)
    c = Chain("float32 batchNormalization after conv2d")
    x = c.input("x", "float32", (1, 2, 3, 3), 0, 2)
    y = c("conv2d", x, c.constant("w", "float32", (3, 2, 2, 2), 0, 2))
    mean = c.constant("mean", "float32", (3,), -2, 0)
    given = {"mean": mean, "variance": c.constant("variance", "float32", (3,), 1, 3)}
    c.end(c("batchNormalization", y, **given, options={
        "scale": c.constant("scale", "float32", (3,), 1, 2),
        "bias": c.constant("bias", "float32", (3,), 0, 2)}))
    c = Chain("float32 attention")
    q = c.input("q", "float32", (1, 2, 3, 4), 0, 1)
    k, v = c.input("k", "float32", (1, 2, 5, 4), 0, 1), c.input("v", "float32", (1, 2, 5, 4), 0, 2)
    scores = c("matmul", q, c("transpose", k, options={"permutation": [0, 1, 3, 2]}))
    scores = c("mul", scores, c.graph.input("s", Tensor("float32", 0.5, constant=True)))
    c.end(c("matmul", c("softmax", scores, axis=3), v))
    c = Chain("float32 multiplied by constants that leave a little")
    x = c.graph.input("x", c.numbers.decimals(1, 8, "float32", (5,)))
    y = c("mul", x, c.graph.input("third", Tensor("float32", 0.33333334, constant=True)))
    c.end(c("mul", y, c.graph.input("three", Tensor("float32", 3.000001, constant=True))))
    c = Chain("float32 products that are zero have a sign")
    x = c.graph.input("x", Tensor("float32", [0.0, -0.0, 2.0]))
    y = c("div", c("mul", x, c.constant("two", "float32", (), 2, 2)),
          c.constant("minus", "float32", (), -4, -4))
    c.end(c("reciprocal", y))
    c = Chain("float32 the opposite of zero has a sign")
    x = c.graph.input("x", Tensor("float32", [0.0, -0.0, 2.0]))
    c.end(c("reciprocal", c("neg", x)))
    for op in ("ceil", "roundEven"):
        c = Chain(f"float32 {op} of a small negative number has a sign")
        x = c.graph.input("x", Tensor("float32", [-0.25, 0.0, -0.5]))
        c.end(c("reciprocal", c(op, x)))
    c = Chain("float32 a moved zero keeps its sign")
    x = c.graph.input("x", Tensor("float32", [[0.0, -0.0], [-0.0, 0.0]]))
    y = c("concat", [c("reverse", x), c("transpose", x)], axis=1)
    c.end(c("reciprocal", y))


def types():
    """Casts, comparisons, indices and quantized numbers between floats."""
    c = Chain("float32 places of NaN are filled")
    x = c.graph.input("x", Tensor("float32", [1.5, NAN, -2.0, NAN]))
    c.end(c("where", c("isNaN", x), c.constant("filler", "float32", (), 7, 7), x))
    c = Chain("float32 greater, logicalNot, cast, mul")
    a, b = c.input("p", "float32", (2, 3)), c.input("q", "float32", (3,))
    y = c("cast", c("logicalNot", c("greater", a, b)), dataType="float32")
    c.end(c("mul", y, a))
    c = Chain("float32 argMax, gather")
    x = c.graph.input("x", c.numbers.distinct("float32", (2, 4)))
    c.end(c("gather", c.input("table", "float32", (4, 3)), c("argMax", x, axis=1)))
    c = Chain("float32 argMin in 64 bits, gatherElements")
    x = c.graph.input("x", c.numbers.distinct("float32", (3, 4)))
    y = c("argMin", x, axis=1, options={"keepDimensions": True, "outputDataType": "int64"})
    c.end(c("gatherElements", x, y, options={"axis": 1}))
    for integer in ("int8", "uint8"):
        c = Chain(f"{integer} dequantizeLinear, conv2d, quantizeLinear")
        low = 0 if integer == "uint8" else -9
        x = c.graph.input("x", c.numbers.whole(low, 9, integer, (1, 2, 3, 3)))
        w = c.graph.input("w", c.numbers.whole(low, 5, integer, (3, 2, 2, 2)).as_constant())

        def scale(name, value):
            return c.graph.input(name, Tensor("float32", [[[[value]]]], constant=True))

        def zero(name, value):
            return c.graph.input(name, Tensor(integer, [[[[value]]]], constant=True))
        y = c("conv2d", c("dequantizeLinear", x, scale("sx", 0.5), zero("zx", 2)),
              c("dequantizeLinear", w, scale("sw", 0.25), zero("zw", 1)))
        c.end(c("quantizeLinear", y, scale("sy", 2.0), zero("zy", 3)), allowed=0)
    c = Chain("uint4 weights, matmul")
    w = c.graph.input("w", c.numbers.whole(0, 15, "uint4", (4, 3)).as_constant())
    s = c.graph.input("s", Tensor("float32", [[0.5, 0.25, 1.0], [2.0, 0.5, 0.125]], constant=True))
    z = c.graph.input("z", Tensor("uint4", [[8, 7, 8], [3, 0, 15]], constant=True))
    c.end(c("matmul", c.input("x", "float32", (2, 4)), c("dequantizeLinear", w, s, z)))
    c = Chain("float32 there and back through float16")
    x = c.graph.input("x", Tensor("float32", [1.0004, -2.0008, 65519.0, 0.1]))
    y = c("cast", x, dataType="float16")
    c.end(c("cast", y, dataType="float32"))
    c = Chain("int32 truncated, then divided")
    x = c.graph.input("x", Tensor("float32", [7.9, -7.9, 3.5]))
    y = c("cast", x, dataType="int32")
    c.end(c("div", y, c.graph.input("two", Tensor("int32", 2, constant=True))))
    c = Chain("float32 constants alone")
    a, b = c.constant("a", "float32", (2, 3)), c.constant("b", "float32", (3,))
    c.end(c("relu", c("add", c("mul", a, b), a)))
    c = Chain("float32 a constant part of the graph")
    a, b = c.constant("a", "float32", (3, 2)), c.constant("b", "float32", (2, 4))
    c.end(c("matmul", c.input("x", "float32", (2, 3)), c("relu", c("matmul", a, b))))
    c = Chain("float32 reductions of reductions")
    x = c.input("x", "float32", (2, 3, 4), 0, 4)
    y = c("reduceSum", c("reduceSum", x, options={"axes": [1]}), options={"axes": [1]})
    c.end(y, c("reduceMax", c("reduceMin", x, options={"axes": [2]}), options={"axes": [0]}))


def make():
    activations_after()
    shared_and_kept()
    movements()
    decomposed()
    types()
