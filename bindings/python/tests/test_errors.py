"""Errors: classes, causes, labels; nothing is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Models, f32

import polychron
from polychron import ArgumentError, InvalidStateError, MLContext, MLGraphBuilder, Session, ml

ones = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"x": ones}, "run of 'add': input 'y' is missing"),
        ({"x": ones, "y": ones, "q": ones}, "input 'q' is not known, the model has 'x', 'y'"),
        ({"x": ones, "y": ones.astype(int)}, "input 'y': expected float .rows, 3., got int64 .2, 3."),
        ({"x": ones, "y": ones[:1]}, "input 'y': expected float .rows, 3., got float32 .1, 3."),
        ({"x": ones, "y": ones[:, :2]}, "input 'y': .* got float32 .2, 2."),
        ({"x": ones, "y": ones[0]}, "input 'y': .* got float32 .3."),
        ({"x": ones, "y": [1.0]}, "input 'y': expected an array"),
    ],
)
def test_wrong_inputs(models: Models, context: MLContext, inputs: Any, said: str) -> None:
    session = Session(models.path("add"), context=context)
    for run in (session.run, session.run_async):
        with pytest.raises(TypeError, match=said):
            run(inputs)
    stats = context.stats()
    assert stats["computes"] == stats["dispatches"] == stats["builds"] == 0
    with pytest.raises(ArgumentError, match="output 'w' is not known, the model has 'z'"):
        session.run({"x": ones, "y": ones}, outputs=["w"])


def test_an_operator_names_what_is_wrong(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    x = builder.input("x", "float32", [2, 3])
    with pytest.raises(ArgumentError, match="rows"):
        builder.add(x, builder.input("y", "float32", [4]), label="rows")
    with pytest.raises(ArgumentError, match="conv2d: strides: unexpected value 'no'"):
        builder.conv2d(x, x, strides="no")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="inputLayout: one of 'nchw' 'nhwc'"):
        builder.conv2d(x, x, input_layout="n")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="operand 2: expected an MLOperand"):
        builder.add(x, 1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'y'"):
        builder.build({"y": context}).result()  # type: ignore[dict-item]
    with pytest.raises(OverflowError):
        builder.constant(10**400)
    with pytest.raises(ArgumentError, match="clamp: maxValue: unexpected value 1000"):
        builder.clamp(x, max_value=10**400)
    assert builder.relu(x).shape == (2, 3)


def test_objects_of_other_classes(context: MLContext, models: Models) -> None:
    """Above all a Reply where its value belongs."""
    reply: Any = context.create_tensor("float32", [1], readable=True, writable=True)
    tensor = reply.result()
    builder = MLGraphBuilder(context)
    x = builder.input("x", "float32", [1])
    pending: Any = builder.build({"y": builder.relu(x)})
    graph = pending.result()
    session = Session(models.path("add"), context=context)
    calls: list[tuple[Any, str]] = [
        (lambda: MLGraphBuilder(ml.create_context()), "MLGraphBuilder: expected an MLContext, got R"),  # type: ignore[arg-type]
        (lambda: Session(models.path("add"), context=reply), "Session: expected an MLContext"),
        (lambda: context.write_tensor(reply, ones), r"write_tensor: .* got Reply: await it, or"),
        (lambda: context.read_tensor(reply), "read_tensor: expected an MLTensor, got Reply"),
        (lambda: context.export_tensor(reply), "export_tensor: expected an MLTensor, got Reply"),
        (lambda: context.dispatch(pending, {}, {}), "dispatch: expected an MLGraph, got Reply"),
        (lambda: context.dispatch(graph, {"x": reply}, {}), "dispatch: input 'x': .* MLTensor, got Re"),
        (lambda: context.dispatch(graph, {"x": tensor}, {"y": ones}), "output 'y': .* got ndarray"),  # type: ignore[dict-item]
        (lambda: context.dispatch(graph, [tensor], {}), "input: expected a dict by name, got list"),  # type: ignore[arg-type]
        (lambda: session.run([ones, ones]), "run of 'add': expected a dict by name, got list"),  # type: ignore[arg-type]
        (lambda: session.run_async(ones), "run of 'add': expected a dict by name, got ndarray"),  # type: ignore[arg-type]
        (lambda: MLGraphBuilder(context).build(x), "build: output: expected a dict by name, got MLO"),  # type: ignore[arg-type]
    ]
    for call, said in calls:
        with pytest.raises(ArgumentError, match=said):
            call()
    stats = context.stats()
    assert stats["writes"] == stats["reads"] == stats["dispatches"] == 0


def test_the_chain_of_causes(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    x = builder.input("x", "float32", [1])
    graph = builder.build({"y": builder.relu(x)}).result()
    a = context.create_tensor("float32", [1], readable=True, writable=True, label="a").result()
    b = context.create_tensor("float32", [1], readable=True, label="b").result()
    context.write_tensor(a, f32([1]), timeout=0)  # is skipped: too late
    context.dispatch(graph, {"x": a}, {"y": b}, label="step")
    with pytest.raises(polychron.Error) as caught:
        context.read_tensor(b).result()
    chain = []
    error: Any = caught.value
    while error is not None:
        chain.append(error)
        error = error.__cause__
    assert len(chain) > 1
    assert isinstance(chain[-1], polychron.TimeoutError) and isinstance(chain[-1], TimeoutError)
    assert any("step" in each.label for each in chain)


def test_states(context: MLContext, models: Models) -> None:
    tensor = context.create_tensor("float32", [1], readable=True).result()
    tensor.destroy()
    with pytest.raises(InvalidStateError):
        context.read_tensor(tensor).result()
    session = Session(models.path("add"))
    session.destroy()
    with pytest.raises(InvalidStateError, match="the session is destroyed"):
        session.run({"x": ones, "y": ones})
    context.destroy()
    with pytest.raises(InvalidStateError):
        MLGraphBuilder(context)


def test_bad_models(tmp_path: Path) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"no model")
    for model in (bad, str(tmp_path / "absent.onnx"), b"no model"):
        with pytest.raises(polychron.DataError):
            Session(model)
    with pytest.raises(TypeError, match="create_context"):
        polychron.ml.create_context(power_preference="much")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'float8' is not a data type"):
        polychron.ml.create_context().result().create_tensor("float8", [1])  # type: ignore[arg-type]
