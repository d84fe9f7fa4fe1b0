"""Sessions: any shape, names, types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import Models, f32

from polychron import MLContext, NotSupportedError, Session


def test_any_shape(models: Models) -> None:
    with Session(Path(models.path("add"))) as session:
        assert session.label == "add"
        assert [(each.name, each.type, each.shape) for each in session.inputs] == [
            ("x", "float", ("rows", 3)),
            ("y", "float", ("rows", 3)),
        ]
        for rows in (1, 7, 1, 3):
            x = np.full((rows, 3), rows, np.float32)
            assert (session.run({"y": x, "x": x}, outputs=["z"])["z"] == 2 * rows).all()
        session.prepare({"rows": 5}).result()


def test_bytes_bools_and_bindings(models: Models, context: MLContext) -> None:
    model = Path(models.path("less")).read_bytes()
    less = Session(model, context=context)
    z = less.run({"x": f32([1, 2, 3]), "y": f32([2, 2, 2])})["z"]
    assert z.dtype == bool and z.tolist() == [True, False, False]
    bound = Session(models.path("add"), context=context, bindings={"rows": 2})
    x = np.zeros((2, 3), np.float32)
    assert bound.run({"x": x, "y": x})["z"].shape == (2, 3)
    with pytest.raises(TypeError, match="rows|bind"):
        bound.run({"x": x[:1], "y": x[:1]})


def test_zero_rows(models: Models) -> None:
    with Session(models.path("add")) as session:
        x = np.zeros((0, 3), np.float32)
        with pytest.raises(NotSupportedError, match="WebNN has no empty tensors: .0, 3."):
            session.run({"x": x, "y": x})
