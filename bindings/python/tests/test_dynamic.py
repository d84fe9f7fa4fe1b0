"""Dynamic dimensions: the builder, dispatches of several shapes, what does not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import f32

import polychron
from polychron import ArgumentError, MLContext, MLGraph, MLGraphBuilder, NotSupportedError, ml


@pytest.fixture
def dynamic() -> Iterator[MLContext]:
    with ml.create_context(features=["dynamic-dimensions"]).result() as made:
        yield made


def doubled(context: MLContext, shape: list[polychron.Dimension]) -> MLGraph:
    builder = MLGraphBuilder(context)
    x = builder.input("x", "float32", shape)
    return builder.build({"y": builder.add(x, x)}).result()


def sent(context: MLContext, graph: MLGraph, x: Any, shape: list[int] | None = None) -> Any:
    """The output of a dispatch. Its tensor has the shape that the graph computes, or `shape`."""
    if shape is None:
        shape = list(graph.compute_shapes({"x": x.shape})["y"])
    a = context.create_tensor("float32", x.shape, writable=True).result()
    b = context.create_tensor("float32", shape, readable=True).result()
    context.write_tensor(a, x)
    context.dispatch(graph, {"x": a}, {"y": b})
    return context.read_tensor(b).result()


def test_any_number_of_rows(dynamic: MLContext) -> None:
    builder = MLGraphBuilder(dynamic)
    x = builder.input("x", "float32", ["rows", 2])
    y = builder.matmul(x, builder.constant(f32([[1, 2, 3], [4, 5, 6]])))
    assert x.shape == ("rows", 2) and y.shape == ("rows", 3)
    graph = builder.build({"y": y}, most_shapes=2).result()
    assert graph.inputs == {"x": ("float32", ("rows", 2))}
    assert graph.outputs == {"y": ("float32", ("rows", 3))}
    asyncio.run(_prepared(graph))
    for rows in (1, 5, 2, 7, 1):
        x_rows = f32(np.ones((rows, 2)))
        assert sent(dynamic, graph, x_rows).tolist() == [[5, 7, 9]] * rows


async def _prepared(graph: MLGraph) -> None:
    await graph.prepare({"x": [5, 2]})


def test_reshape_by_name(dynamic: MLContext) -> None:
    builder = MLGraphBuilder(dynamic)
    x = builder.input("x", "float32", ["rows", 6])
    y = builder.reshape(x, [2, "rows", 3], label="split")
    assert y.shape == (2, "rows", 3)
    assert builder.reshape(builder.constant(f32([1, 2])), [2, 1]).shape == (2, 1)
    with pytest.raises(ArgumentError, match="other"):
        builder.reshape(x, [2, "other", 3])
    graph = builder.build({"y": y}).result()
    assert sent(dynamic, graph, f32(np.arange(12).reshape(2, 6))).shape == (2, 2, 3)


def test_bounds_and_names(dynamic: MLContext) -> None:
    bounded = doubled(dynamic, [("rows", 4), None, (None, 3)])
    assert sent(dynamic, bounded, f32(np.ones((4, 9, 3)))).sum() == 2 * 4 * 9 * 3
    with pytest.raises(polychron.Error, match="'rows' is 5 in input 'x', expected at most 4"):
        sent(dynamic, bounded, f32(np.ones((5, 1, 1))), [5, 1, 1])
    with pytest.raises(ArgumentError, match="'rows' is 5"):
        bounded.compute_shapes({"x": [5, 1, 1]})
    with pytest.raises(ArgumentError, match="'rows' is 5"):
        bounded.prepare({"x": [5, 1, 1]}).result()
    square = doubled(dynamic, ["n", "n"])
    assert sent(dynamic, square, f32([[1, 2], [3, 4]])).tolist() == [[2, 4], [6, 8]]
    with pytest.raises(polychron.Error, match="'n'"):
        sent(dynamic, square, f32([[1, 2]]), [1, 2])


@pytest.mark.parametrize(
    "shape", [["rows", 0], ["rows", -1], ["rows", 1.5], [("rows",), 1], [("rows", "most")], ["", 1]]
)
def test_wrong_dimensions(dynamic: MLContext, shape: Any) -> None:
    with pytest.raises(TypeError, match="input 'x'|name"):
        MLGraphBuilder(dynamic).input("x", "float32", shape)


def test_wrong_shapes(dynamic: MLContext) -> None:
    graph = doubled(dynamic, ["rows"])
    for given in ({"x": "ab"}, {"x": [1.5]}, {1: [1]}, {}, {"y": [1]}, {"x": [1, 2]}):
        with pytest.raises(TypeError):
            graph.compute_shapes(given)  # type: ignore[arg-type]


def test_without_the_feature(context: MLContext) -> None:
    with pytest.raises(NotSupportedError, match="dynamic-dimensions"):
        MLGraphBuilder(context).input("x", "float32", ["rows"])
    with pytest.raises(NotSupportedError, match="flying"):
        ml.create_context(features=["flying"]).result()
    graph = doubled(context, [3])
    assert graph.compute_shapes({"x": [3]}) == {"y": (3,)}
    graph.prepare({"x": [3]}).result()
