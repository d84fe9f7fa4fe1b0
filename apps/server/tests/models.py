"""Writes the tiny models that the server's tests use, into a folder.

models/ has its results, so that no test needs Python's onnx.
"""
import sys
from pathlib import Path

import onnx
from onnx import TensorProto as T
from onnx import helper as h


def save(folder, name, nodes, inputs, outputs, initializers=()):
    graph = h.make_graph(nodes, name, inputs, outputs, initializers)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, Path(folder) / f"{name}.onnx")


def value(name, kind, shape):
    return h.make_tensor_value_info(name, kind, shape)


def main(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    pair = [value("INPUT0", T.INT32, [1, 16]), value("INPUT1", T.INT32, [1, 16])]
    both = [value("OUTPUT0", T.INT32, [1, 16]), value("OUTPUT1", T.INT32, [1, 16])]
    sums = [h.make_node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]),
            h.make_node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"])]
    save(folder, "simple", sums, pair, both)
    for name, kind in {"int8": T.INT8, "int16": T.INT16, "int64": T.INT64, "uint8": T.UINT8,
                       "fp16": T.FLOAT16, "fp32": T.FLOAT, "fp64": T.DOUBLE,
                       "bool": T.BOOL, "bf16": T.BFLOAT16}.items():
        save(folder, f"copy_{name}", [h.make_node("Identity", ["x"], ["y"])],
             [value("x", kind, ["n"])], [value("y", kind, ["n"])])
    # [a, n] and [n, b]: a product whose free dimensions must agree.
    save(folder, "product", [h.make_node("MatMul", ["a", "b"], ["c"])],
         [value("a", T.FLOAT, ["rows", "inner"]), value("b", T.FLOAT, ["inner", "columns"])],
         [value("c", T.FLOAT, ["rows", "columns"])])
    # Small inputs and outputs, and a plan that takes rows * columns.
    nodes = [h.make_node("MatMul", ["a", "b"], ["c"]), h.make_node("Softmax", ["c"], ["d"]),
             h.make_node("ReduceMax", ["d"], ["e"], axes=[1], keepdims=0)]
    save(folder, "wide", nodes,
         [value("a", T.FLOAT, ["rows", 1]), value("b", T.FLOAT, [1, "columns"])],
         [value("e", T.FLOAT, ["rows"])])
    # Weights of 256 KiB, and little else.
    ones = h.make_tensor("one", T.FLOAT, [1], [1])
    nodes = [h.make_node("ConstantOfShape", ["square"], ["w"], value=ones),
             h.make_node("MatMul", ["x", "w"], ["y"])]
    square = h.make_tensor("square", T.INT64, [2], [256, 256])
    save(folder, "weights", nodes, [value("x", T.FLOAT, ["rows", 256])],
         [value("y", T.FLOAT, ["rows", 256])], [square])
    # Of sentences: a token t that counts becomes [t + 1, 1, 2 t + 1, 1], one that does not is less.
    table = h.make_tensor("table", T.FLOAT, [16, 4], sum(([t, 0, 2 * t, 0] for t in range(16)), []))
    last = h.make_tensor("last", T.INT64, [1], [2])
    second = h.make_tensor("second", T.INT64, [1], [1])
    nodes = [h.make_node("Gather", ["table", "input_ids"], ["words"]),
             h.make_node("Cast", ["attention_mask"], ["counts"], to=T.FLOAT),
             h.make_node("Unsqueeze", ["counts", "last"], ["column"]),
             h.make_node("Add", ["words", "column"], ["last_hidden_state"])]
    for name, rows, length in (("sentences", "batch", "length"), ("pairs", 2, 8)):
        inputs = [value("input_ids", T.INT64, [rows, length]),
                  value("attention_mask", T.INT64, [rows, length])]
        outputs = [value("last_hidden_state", T.FLOAT, [rows, length, 4])]
        more = []
        if name == "pairs":
            more = [h.make_node("ReduceSum", ["last_hidden_state", "second"],
                                ["sentence_embedding"], keepdims=0)]
            outputs.append(value("sentence_embedding", T.FLOAT, [rows, 4]))
        save(folder, name, nodes + more, inputs, outputs, [table, last, second])
    # Takes a processor some tenths of a second: products of large matrices, of one number.
    side = h.make_tensor("side", T.INT64, [2], [1200, 1200])
    nodes = [h.make_node("Expand", ["x", "side"], ["y0"])]
    nodes += [h.make_node("MatMul", [f"y{i}", f"y{i}"], [f"y{i + 1}"]) for i in range(4)]
    nodes += [h.make_node("ReduceMax", ["y4"], ["y"], keepdims=0)]
    save(folder, "slow", nodes, [value("x", T.FLOAT, [1, 1])], [value("y", T.FLOAT, [])], [side])


if __name__ == "__main__":
    main(sys.argv[1])
