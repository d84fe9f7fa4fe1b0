"""Session.run beside onnxruntime's InferenceSession.run, turn by turn. Needs onnx and onnxruntime.

Usage: bench.py [SECONDS of each turn]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import polychron


def save(path: Path, nodes: list, inputs: dict, outputs: dict, weights: dict) -> str:
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(
        nodes,
        path.stem,
        [value(*each) for each in inputs.items()],
        [value(*each) for each in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opset = helper.make_opsetid("", 18)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
    return str(path)


def add(folder: Path) -> tuple[str, dict]:
    x = np.ones((4,), np.float32)
    nodes = [helper.make_node("Add", ["x", "y"], ["z"])]
    return save(folder / "add.onnx", nodes, {"x": [4], "y": [4]}, {"z": [4]}, {}), {"x": x, "y": x}


def mobilenet(folder: Path) -> tuple[str, dict]:
    """MobileNetV2's blocks (arXiv 1801.04381, table 2) with random weights."""
    random, nodes, weights = np.random.default_rng(1), [], {}

    def conv(x: str, into: int, out: int, size: int, stride: int, groups: int, relu: bool) -> str:
        n = len(weights)
        weights[f"w{n}"] = (random.standard_normal((out, into // groups, size, size)) / (into // groups * size)).astype(np.float32)
        y = f"c{n}"
        nodes.append(helper.make_node("Conv", [x, f"w{n}"], [y], strides=[stride] * 2, pads=[size // 2] * 4, group=groups))
        if relu:
            weights.setdefault("zero", np.float32(0)), weights.setdefault("six", np.float32(6))
            nodes.append(helper.make_node("Clip", [y, "zero", "six"], [y + "r"]))
            y += "r"
        return y

    x, channels = conv("x", 3, 32, 3, 2, 1, True), 32
    for t, c, n, s in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(n):
            wide, stride = channels * t, s if i == 0 else 1
            y = conv(x, channels, wide, 1, 1, 1, True) if t > 1 else x
            y = conv(conv(y, wide, wide, 3, stride, wide, True), wide, c, 1, 1, 1, False)
            if stride == 1 and channels == c:
                nodes.append(helper.make_node("Add", [x, y], [y + "s"]))
                y += "s"
            x, channels = y, c
    x = conv(x, channels, 1280, 1, 1, 1, True)
    nodes.append(helper.make_node("GlobalAveragePool", [x], ["z"]))
    path = save(folder / "mobilenet.onnx", nodes, {"x": [1, 3, 224, 224]}, {"z": [1, 1280, 1, 1]}, weights)
    return path, {"x": random.standard_normal((1, 3, 224, 224)).astype(np.float32)}


def median(call: Callable[[], object], seconds: float) -> float:
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e6


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2
    with tempfile.TemporaryDirectory() as folder:
        for make in (add, mobilenet):
            path, inputs = make(Path(folder))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            peer = onnxruntime.InferenceSession(path, options)
            own = polychron.Session(path)
            expected, got = peer.run(None, inputs)[0], own.run(inputs)["z"]
            assert np.allclose(expected, got, rtol=1e-3, atol=1e-4)
            for _ in range(2):
                a = median(lambda: own.run(inputs), seconds)
                b = median(lambda: own.run_async(inputs).result(), seconds)
                c = median(lambda: peer.run(None, inputs), seconds)
                print(f"{make.__name__}: run {a:.1f} us, run_async {b:.1f} us, onnxruntime {c:.1f} us", flush=True)


if __name__ == "__main__":
    main()
