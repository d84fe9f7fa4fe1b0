"""mypy --strict accepts these tests and the package."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import polychron
from polychron import MLContext, MLGraphBuilder


def test_types() -> None:
    here = Path(__file__).parent
    package = Path(polychron.__file__).parent
    for folder in (package, here):
        # The stub of the extension is nanobind's: mypy reads it, without a judgement.
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--no-error-summary",
             "--follow-imports=silent", "--cache-dir=/dev/null",
             *sorted(each.name for each in folder.glob("*.py"))],
            cwd=folder, capture_output=True, text=True,
        )
        assert done.stdout + done.stderr == ""


def test_every_operator_of_the_idl_is_known(context: MLContext) -> None:
    from polychron._operators import Operators

    names = {name.replace("_", "") for name in vars(Operators) if not name.startswith("_")}
    limits = set(context.op_support_limits()) - {"input", "constant", "output"}
    assert names <= {each.lower() for each in limits}
    assert len(names) > 90
    for name in vars(Operators):
        assert name.startswith("__") or getattr(Operators, name).__doc__ or name == "_apply"


def test_options_reach_the_library(context: MLContext) -> None:
    builder = MLGraphBuilder(context)
    x = builder.input("x", "float32", [1, 4, 4, 2])
    w = builder.constant(np.ones((3, 2, 1, 1), np.float32))
    bias = builder.constant(np.ones(3, np.float32))
    y = builder.conv2d(x, w, strides=[2, 2], input_layout="nhwc", bias=bias)
    assert y.shape == (1, 2, 2, 3)
    halves = builder.split(x, 2, axis=3)
    assert [each.shape for each in halves] == [(1, 4, 4, 1)] * 2
    assert [each.shape for each in builder.split(x, [1, 3], axis=1)] == [(1, 1, 4, 2), (1, 3, 4, 2)]
    assert builder.concat(halves, 3).shape == (1, 4, 4, 2)
    assert builder.clamp(x, min_value=0, max_value=6).shape == x.shape
    assert builder.is_nan(x).data_type == "uint8"
    graph = builder.build({"y": y}, label="net").result()
    assert graph.inputs == {"x": ("float32", (1, 4, 4, 2))} and graph.plan()


def test_import_is_light() -> None:
    code = "import sys, polychron; assert 'numpy' not in sys.modules and 'asyncio' not in sys.modules"
    threads = "; import threading, os; assert len(os.listdir('/proc/self/task')) == 1"
    subprocess.run([sys.executable, "-c", code + threads], check=True)
    with pytest.raises(AttributeError):
        polychron.nothing  # type: ignore[attr-defined]
