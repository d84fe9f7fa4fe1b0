"""The first steps of docs/python.md."""

import numpy as np

from conftest import Models
from polychron import MLContext, MLGraphBuilder, Session


def test_a_graph_adds(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    a = builder.input("a", "float32", [2, 2])
    graph = builder.build({"c": builder.add(a, builder.constant(1.0))}).result()
    x = context.create_tensor("float32", [2, 2], writable=True).result()
    y = context.create_tensor("float32", [2, 2], readable=True).result()
    context.write_tensor(x, np.array([[1, 2], [3, 4]], np.float32))
    context.dispatch(graph, {"a": x}, {"c": y})
    assert context.read_tensor(y).result().tolist() == [[2, 3], [4, 5]]


def test_a_model_runs(models: Models) -> None:
    session = Session(models.path("add"))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert session.run({"x": x, "y": x})["z"].tolist() == (x + x).tolist()
