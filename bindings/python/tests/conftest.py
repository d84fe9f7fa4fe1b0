"""A context for each test, and models that onnx writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from polychron import MLContext, ml


@pytest.fixture
def context() -> Iterator[MLContext]:
    with ml.create_context(label="test").result() as made:
        yield made


def f32(values: Any) -> Any:
    return np.array(values, np.float32)


class Models:
    """Models of a few nodes, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> str:
        path = self.folder / f"{name}.onnx"
        graph = helper.make_graph(nodes, name, inputs, outputs)
        opset = helper.make_opsetid("", 18)
        onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=9), path)
        return str(path)

    def path(self, name: str) -> str:
        free: list[str | int | None] = ["rows", 3]
        value = helper.make_tensor_value_info
        if name == "add":
            nodes = [helper.make_node("Add", ["x", "y"], ["z"])]
            inputs = [value(each, TensorProto.FLOAT, free) for each in "xy"]
            return self.write(name, nodes, inputs, [value("z", TensorProto.FLOAT, free)])
        if name == "less":
            nodes = [helper.make_node("Less", ["x", "y"], ["z"])]
            inputs = [value(each, TensorProto.FLOAT, [3]) for each in "xy"]
            return self.write(name, nodes, inputs, [value("z", TensorProto.BOOL, [3])])
        if name in ("slow", "long"):  # some 20 ms, some seconds
            last = 8 if name == "slow" else 600
            nodes = [helper.make_node("MatMul", ["x", "x"], ["h0"])]
            for i in range(last):
                nodes.append(helper.make_node("MatMul", [f"h{i}", "x"], [f"h{i + 1}"]))
            return self.write(
                name,
                nodes,
                [value("x", TensorProto.FLOAT, [512, 512])],
                [value(f"h{last}", TensorProto.FLOAT, [512, 512])],
            )
        raise KeyError(name)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("models"))
