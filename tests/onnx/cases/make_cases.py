#!/usr/bin/env python3
"""Writes microsoft.json: calls of ONNX Runtime's own operators, with its results.

Needs the Python package onnx (Debian: python3-onnx) and, in node_modules, onnxruntime-node.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).parent
TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "int32": TensorProto.INT32,
         "int8": TensorProto.INT8, "uint8": TensorProto.UINT8, "int4": TensorProto.INT4,
         "uint4": TensorProto.UINT4}
CASES = []


class Value:
    def __init__(self, kind, shape, data, constant=False):
        self.kind, self.shape, self.data, self.constant = kind, list(shape), list(data), constant


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def drawn(seed, low, high, shape, kind="float32", constant=False):
    """Numbers in eighths, or whole ones: the same for the same seed."""
    generator = random.Random(seed)
    if kind == "float32":
        data = [generator.randint(8 * low, 8 * high) / 8 for _ in range(count(shape))]
    else:
        data = [generator.randint(low, high) for _ in range(count(shape))]
    return Value(kind, shape, data, constant)


def floats(seed, *shape):
    return drawn(seed, -2, 2, shape)


def steps(seed, *shape, kind="uint8"):
    return drawn(seed, *((0, 255) if kind == "uint8" else (-128, 127)), shape, kind)


def scalar(kind, value):
    return Value(kind, [], [value])


def case(op, name, inputs, outputs=1, tolerance=None, **attributes):
    """`inputs` by position, None for an omitted one; `outputs`: their number, or their indices."""
    wanted = range(outputs) if isinstance(outputs, int) else outputs
    CASES.append((op, name, inputs, sorted(wanted), tolerance, attributes))


def fused():
    x, w, z = floats(1, 1, 2, 5, 4), floats(2, 3, 2, 3, 3), floats(3, 1, 3, 3, 2)
    bias = floats(4, 3)
    case("FusedConv", "relu", [x, w, bias], activation="Relu")
    case("FusedConv", "a summand", [x, w, bias, z], activation="Relu")
    case("FusedConv", "leaky", [x, w], activation="LeakyRelu", activation_params=[0.25])
    case("FusedConv", "clipped", [x, w, bias], activation="Clip", activation_params=[-1.0, 2.5],
         pads=[1, 1, 1, 1], strides=[2, 1])
    case("FusedConv", "hard sigmoid", [x, w], activation="HardSigmoid",
         activation_params=[0.125, 0.25])
    case("FusedConv", "tanh", [x, w], activation="Tanh")
    case("FusedGemm", "leaky", [floats(5, 2, 3), floats(6, 4, 3), floats(7, 4)], transB=1,
         alpha=0.5, activation="LeakyRelu", activation_alpha=0.125)
    a = floats(8, 2, 3)
    case("Gelu", "exact", [a])
    case("BiasGelu", "a row", [a, floats(9, 3)])
    case("FastGelu", "plain", [a])
    case("FastGelu", "with a bias", [a, floats(10, 3)])
    case("QuickGelu", "default", [a])
    case("QuickGelu", "alpha", [a], alpha=1.25)
    case("FusedMatMul", "transposed", [floats(11, 2, 4, 3), floats(12, 2, 5, 4)], transA=1,
         transB=1, alpha=0.5)
    case("FusedMatMul", "rows before the batch", [floats(13, 3, 2, 4), floats(14, 2, 4, 5)],
         transBatchA=1)
    case("FusedMatMul", "both turned", [floats(15, 4, 2, 3), floats(16, 5, 2, 4)], transBatchA=1,
         transA=1, transBatchB=1, transB=1)


def normalizations():
    x, skip = floats(20, 2, 3, 4), floats(21, 2, 3, 4)
    gamma, beta, bias = floats(22, 4), floats(23, 4), floats(24, 4)
    case("SkipLayerNormalization", "plain", [x, skip, gamma, beta])
    case("SkipLayerNormalization", "with a bias and the sum", [x, skip, gamma, beta, bias],
         outputs=[0, 3], epsilon=0.5)
    case("SkipLayerNormalization", "one skip for all", [x, floats(25, 3, 4), gamma])
    case("SkipSimplifiedLayerNormalization", "plain", [x, skip, gamma], epsilon=1e-5)
    case("SkipSimplifiedLayerNormalization", "with a bias and the sum", [x, skip, gamma, bias],
         outputs=[0, 3], epsilon=0.25)
    case(":SimplifiedLayerNormalization", "plain", [x, gamma], axis=-1, epsilon=1e-5)
    ids = drawn(26, 0, 4, (2, 3), "int32")
    tables = [floats(27, 5, 4), floats(28, 6, 4), floats(29, 2, 4)]
    segments = drawn(30, 0, 1, (2, 3), "int32")
    mask = Value("int32", (2, 3), [1, 1, 0, 1, 0, 0])
    case("EmbedLayerNormalization", "all", [ids, segments, *tables, gamma, beta, mask],
         outputs=[0, 1])
    case("EmbedLayerNormalization", "no segments", [ids, None, tables[0], tables[1], None, gamma,
                                                    beta], outputs=[0, 1])


def attentions():
    batch, queries, width, heads = 2, 3, 4, 2
    x, weights, bias = floats(40, batch, queries, 5), floats(41, 5, 12), floats(42, 12)
    case("Attention", "plain", [x, weights, bias], num_heads=heads)
    case("Attention", "causal", [x, weights, bias], num_heads=heads, unidirectional=1)
    case("Attention", "a raw mask", [x, weights, bias, Value("int32", (2, 3), [1, 1, 0, 1, 0, 1])],
         num_heads=heads)
    case("Attention", "lengths", [x, weights, bias, Value("int32", (2,), [2, 3])], num_heads=heads)
    case("Attention", "ends and beginnings",
         [x, weights, bias, Value("int32", (4,), [2, 3, 0, 1])], num_heads=heads)
    case("Attention", "a mask for each query",
         [x, weights, bias, Value("int32", (2, 3, 3), [1, 0, 0, 1, 1, 0, 1, 1, 1] * 2)],
         num_heads=heads, mask_filter_value=-5000.0)
    past = floats(43, 2, batch, heads, 2, 2)
    case("Attention", "past and present", [x, weights, bias, None, past], num_heads=heads,
         unidirectional=1, outputs=2)
    case("Attention", "sizes", [x, floats(44, 5, 14), floats(45, 14)], num_heads=heads,
         qkv_hidden_sizes=[4, 4, 6], scale=0.25)
    case("Attention", "a bias for scores",
         [x, weights, bias, None, None, floats(46, batch, heads, queries, queries)],
         num_heads=heads)

    query, key, value = (floats(seed, batch, queries, width) for seed in (50, 51, 52))
    long_key, long_value = floats(53, batch, 5, width), floats(54, batch, 5, 6)
    case("MultiHeadAttention", "plain", [query, key, value], num_heads=heads)
    case("MultiHeadAttention", "with a bias", [query, key, value, floats(55, 12)], num_heads=heads)
    case("MultiHeadAttention", "other keys", [query, long_key, long_value], num_heads=heads,
         scale=0.5)
    case("MultiHeadAttention", "causal", [query, key, value], num_heads=heads, unidirectional=1)
    case("MultiHeadAttention", "a raw mask",
         [query, long_key, long_value, None, Value("int32", (2, 5), [1, 1, 1, 0, 0, 1, 0, 1, 1, 1])],
         num_heads=heads)
    case("MultiHeadAttention", "a bias for scores",
         [query, key, value, None, None, floats(56, 1, heads, queries, queries)], num_heads=heads)
    case("MultiHeadAttention", "past and present",
         [query, key, value, None, None, None, floats(57, batch, heads, 2, 2),
          floats(58, batch, heads, 2, 2)], num_heads=heads, outputs=3)
    case("MultiHeadAttention", "keys in heads",
         [query, floats(59, batch, heads, 5, 2), floats(60, batch, heads, 5, 2)], num_heads=heads)


def rotations():
    cosines, sines = floats(70, 8, 2), floats(71, 8, 2)
    x = floats(72, 2, 3, 8)
    offset = Value("int64", (1,), [2])
    each = Value("int64", (2, 3), [0, 1, 2, 3, 5, 7])
    case("RotaryEmbedding", "halves", [x, offset, cosines, sines])
    case("RotaryEmbedding", "neighbors", [x, offset, cosines, sines], interleaved=1)
    case("RotaryEmbedding", "positions", [x, each, cosines, sines])
    case("RotaryEmbedding", "heads", [floats(73, 2, 2, 3, 4), each, cosines, sines])
    case("RotaryEmbedding", "a part", [floats(74, 2, 3, 16), each, cosines, sines], num_heads=2,
         rotary_embedding_dim=4)

    heads, groups, features = 4, 2, 16
    cosines, sines = floats(75, 16, 8), floats(76, 16, 8)

    def grouped(name, batch, queries, past, lengths=None, extra=(), packed=False, total=None,
                **given):
        width = features * (heads + 2 * groups) if packed else features * heads
        key = None if packed else floats(81, batch, queries, features * groups)
        value = None if packed else floats(82, batch, queries, features * groups)
        old = [floats(seed, batch, groups, past, features) for seed in (83, 84)]
        lengths = lengths or [past + queries] * batch
        # ONNX Runtime leaves out what does not count.
        for x in old:
            for i, element in enumerate(x.data):
                known = lengths[i // (groups * past * features)] - queries
                x.data[i] = element if i // features % past < known else 0
        case("GroupQueryAttention", name,
             [floats(80, batch, queries, width), key, value, *(old if past else [None, None]),
              Value("int32", (batch,), [n - 1 for n in lengths]),
              Value("int32", [], [total or max(lengths)], total is not None),
              *extra], num_heads=heads, kv_num_heads=groups, outputs=3, **given)
    grouped("the first steps", 2, 3, 0)
    grouped("one more", 1, 1, 3)
    grouped("several more", 1, 2, 3)
    grouped("one more after different lengths", 2, 1, 4, [3, 5], extra=[cosines, sines],
            do_rotary=1)
    grouped("in a buffer", 1, 1, 8, [4], total=4)
    grouped("in a buffer, of any total", 2, 1, 8, [4, 6], total=8, extra=[cosines, sines],
            do_rotary=1)
    grouped("in a full buffer", 1, 1, 4, [4], total=4)
    grouped("in an empty buffer", 1, 3, 8, [3], total=3)
    grouped("several in a buffer", 1, 3, 8, [6], total=6, local_window_size=2)
    grouped("turned", 1, 3, 0, extra=[cosines, sines], do_rotary=1)
    grouped("turned, one more", 2, 1, 4, extra=[cosines, sines], do_rotary=1)
    grouped("turned, neighbors", 1, 1, 2, extra=[cosines, sines], do_rotary=1,
            rotary_interleaved=1)
    grouped("packed", 1, 2, 0, packed=True, extra=[cosines, sines], do_rotary=1)
    grouped("a window", 1, 5, 0, local_window_size=2)
    grouped("a scale", 1, 2, 0, scale=0.25)


def lstm(direction, ways, lengths=False, rows=False, kind="int8"):
    """ONNX Runtime rounds the states to 8 bits: a tolerance of two steps of their range."""
    n, width, hidden = 3, 5, 2
    gates = 4 * hidden
    each = (ways, gates) if rows else (ways,)
    zero = 0 if kind == "int8" else 130
    scales = [Value("float32", each, [(1 + (i + seed) % 4) / 512 for i in range(count(each))], True)
              for seed in (0, 1)]
    zeros = Value(kind, each, [zero] * count(each), True)
    least, most = (-128, 127) if kind == "int8" else (0, 255)
    weights = [drawn(seed, least, most, (ways, size, gates), kind, True)
               for seed, size in ((120, width), (121, hidden))]
    case("DynamicQuantizeLSTM", direction,
         [floats(122, 4, n, width), *weights, floats(123, ways, 2 * gates),
          Value("int32", (n,), [4, 2, 1]) if lengths else None, floats(124, ways, n, hidden),
          floats(125, ways, n, hidden), None, scales[0], zeros, scales[1], zeros],
         outputs=3, tolerance=0.016, hidden_size=hidden, direction=direction)


def quantized():
    a, b = steps(90, 2, 3), steps(91, 2, 3)
    scale_a, scale_b, scale_c = (scalar("float32", s) for s in (0.03125, 0.0625, 0.09375))
    zero_a, zero_b, zero_c = (scalar("uint8", z) for z in (120, 7, 100))
    both = [a, scale_a, zero_a, b, scale_b, zero_b, scale_c, zero_c]
    case("QLinearAdd", "plain", both)
    case("QLinearMul", "plain", both)
    case("QLinearAdd", "a row", [a, scale_a, zero_a, steps(92, 3), scale_b, zero_b, scale_c,
                                 zero_c])
    signed = [steps(93, 2, 3, kind="int8"), scale_a, scalar("int8", -5)]
    case("QLinearMul", "int8", [*signed, steps(94, 2, 3, kind="int8"), scale_b, scalar("int8", 3),
                                scale_c, scalar("int8", 10)])
    case("QLinearSigmoid", "plain", [a, scale_a, zero_a, scalar("float32", 0.00390625),
                                     scalar("uint8", 0)])
    case("QLinearLeakyRelu", "plain", [a, scale_a, zero_a, scale_b, zero_b], alpha=0.25)
    case("QLinearGlobalAveragePool", "channels first",
         [steps(95, 1, 2, 3, 3), scale_a, zero_a, scale_b, zero_b], channels_last=0)
    case("QLinearGlobalAveragePool", "channels last",
         [steps(96, 1, 3, 3, 2), scale_a, zero_a, scale_b, zero_b], channels_last=1)
    case("QLinearConcat", "two", [scale_c, zero_c, a, scale_a, zero_a, steps(97, 2, 2), scale_b,
                                  zero_b], axis=1)
    rows, columns = steps(98, 2, 4), steps(99, 3, 4, kind="int8")
    each = Value("float32", (3,), [0.0625, 0.125, 0.03125])
    zeros = Value("int8", (3,), [0, 0, 0])
    bias = Value("int32", (3,), [100, -2000, 30])
    case("QGemm", "in float", [rows, scale_a, zero_a, columns, each, zeros, bias], transB=1)
    case("QGemm", "in steps", [rows, scale_a, zero_a, columns, each, zeros, bias,
                               scalar("float32", 2.0), scalar("uint8", 128)], transB=1, alpha=0.5)
    inner = steps(100, 4, 3)
    x = floats(101, 2, 4)
    case("DynamicQuantizeMatMul", "plain", [x, inner, scale_b, zero_b])
    case("DynamicQuantizeMatMul", "columns and a bias",
         [x, inner, each, Value("uint8", (3,), [7, 8, 9]), floats(102, 3)])
    lstm("bidirectional", 2)
    lstm("forward", 1, lengths=True, rows=True)
    lstm("reverse", 1, kind="uint8")
    case("MatMulIntegerToFloat", "plain", [rows, inner, scale_a, scale_b, zero_a, zero_b,
                                           floats(103, 3)])
    x = floats(104, 2, 40)

    def blocks(name, bits, block, zeros=False, bias=False, real=False):
        n, k = 3, 40
        parts = -(-k // block)
        weights = drawn(105, 0, 255, (n, parts, block * bits // 8), "uint8", True)
        scales = Value("float32", (n * parts,),
                       [(1 + i % 5) / 64 for i in range(n * parts)], True)
        points = drawn(106, 0, 255, (n * (-(-parts * bits // 8)),), "uint8", True)
        if real:
            points = drawn(108, 0, 2**bits, (n, parts), "float32", True)
        case("MatMulNBits", name, [x, weights, scales, points if zeros else None, None,
                                   floats(107, n) if bias else None],
             N=n, K=k, bits=bits, block_size=block)
    blocks("4 bits", 4, 16)
    blocks("4 bits, zero points", 4, 16, True)
    blocks("4 bits, a bias", 4, 32, True, True)
    blocks("8 bits", 8, 16, True)
    blocks("2 bits", 2, 16)
    blocks("2 bits, zero points", 2, 16, True)
    blocks("2 bits, zero points of floats", 2, 32, True, real=True)
    blocks("4 bits, zero points of floats", 4, 16, True, real=True)
    tables()


def tables():
    """Rows of tables in blocks."""
    def table(name, shape, kind, bits=4, block=16, zeros=False, indices=(2, 0, 3, -1), known=False,
              gather=0, divided=1):
        whole = list(shape)
        parts = list(whole)
        parts[divided] = -(-whole[divided] // block)
        least, most = (-8, 7) if kind == "int4" else (0, 15) if kind == "uint4" else (0, 255)

        def drawn_in_bytes(seed, size):
            packed = [*size[:-1], -(-size[-1] * bits // 8)] if kind == "uint8" else size
            return drawn(seed, least, most, packed, kind, True)
        scales = Value("float32", parts, [(1 + i % 5) / 64 for i in range(count(parts))], True)
        at = Value("int64", (2, len(indices) // 2), list(indices), known)
        case("GatherBlockQuantized", name,
             [drawn_in_bytes(130, whole), at, scales,
              drawn_in_bytes(131, parts) if zeros else None],
             bits=bits, block_size=block, gather_axis=gather, quantize_axis=divided)
    for bits in (2, 4, 8):
        table(f"{bits} bits", (4, 40), "uint8", bits)
        table(f"{bits} bits, zero points", (4, 48), "uint8", bits, zeros=True)
    for kind in ("int4", "uint4"):
        table(kind, (4, 40), kind)
        table(f"{kind}, zero points", (4, 48), kind, zeros=True)
        table(f"{kind}, an odd width", (4, 33), kind, zeros=True)
    table("known indices", (4, 32), "uint4", known=True)
    table("a block wider than the axis", (4, 24), "uint4", block=64, zeros=True)
    table("blocks of rows", (40, 4, 2), "int4", gather=1, divided=0, zeros=True)
    table("the last axis", (40, 4), "int4", gather=1, divided=0, zeros=True)
    table("three dimensions", (4, 3, 32), "uint8", divided=2, zeros=True)


def named(inputs):
    return [("" if value is None else f"i{place}", value) for place, value in enumerate(inputs)]


def model_of(op, inputs, outputs, attributes):
    names = named(inputs)
    while names and not names[-1][0]:
        names.pop()
    results = [f"o{i}" if i in outputs else "" for i in range(max(outputs) + 1)]
    domain = "" if op.startswith(":") else "com.microsoft"
    node = helper.make_node(op.lstrip(":"), [name for name, _ in names], results, domain=domain,
                            **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(name, TYPES[value.kind], value.shape)
         for name, value in names if name and not value.constant],
        [helper.make_empty_tensor_value_info(name) for name in results if name],
        [helper.make_tensor(name, TYPES[value.kind], value.shape, value.data)
         for name, value in names if name and value.constant])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])


def main():
    for family in (fused, normalizations, attentions, rotations, quantized):
        family()
    with tempfile.TemporaryDirectory() as folder:
        for place, (op, _, inputs, outputs, _, attributes) in enumerate(CASES):
            path = pathlib.Path(folder) / f"{place:03}"
            onnx.save(model_of(op, inputs, outputs, attributes), path.with_suffix(".onnx"))
            feeds = [[name, value.kind, value.shape, value.data] for name, value in named(inputs)
                     if name and not value.constant]
            path.with_suffix(".json").write_text(json.dumps(feeds))
        run = subprocess.run(["node", FOLDER / "run_models.mjs", folder], check=True,
                             stdout=subprocess.PIPE, text=True)
    lines, errors = [], []
    for (op, name, inputs, _, tolerance, attributes), told in zip(CASES, run.stdout.splitlines()):
        result = json.loads(told)
        if "error" in result:
            errors.append(f"{op} \"{name}\": {result['error']}")
            continue
        listed = [value and {"type": value.kind, "shape": value.shape, "data": value.data,
                             **({"constant": True} if value.constant else {})} for value in inputs]
        outputs = [[*told, [float(f"{x:.8g}") for x in data]] for *told, data in result["outputs"]]
        lines.append(json.dumps({"op": op, "name": name, "attributes": attributes, "inputs": listed,
                                 "outputs": outputs,
                                 **({"tolerance": tolerance} if tolerance else {})},
                                separators=(",", ":")))
    if errors:
        sys.exit("\n".join(errors))
    (FOLDER / "microsoft.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"wrote {len(lines)} cases")


if __name__ == "__main__":
    main()
