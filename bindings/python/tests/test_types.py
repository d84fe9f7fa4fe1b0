"""mypy --strict accepts these tests and the package; pyright knows its types."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import polychron
from polychron import MLContext, MLGraphBuilder


HERE = Path(__file__).parent
#: Ray's types are too poor for the tests that use it; polychron.serve is judged where Ray is.
UNJUDGED = {"serve_app", "test_serve"} | (set() if find_spec("ray") else {"serve"})


def names(folder: Path) -> list[str]:
    """The modules of a folder. The stub of the extension is nanobind's, and is not judged."""
    return sorted({each.stem for each in folder.glob("*.py")} - UNJUDGED)


def modules_of_the_package() -> list[str]:
    found = names(Path(polychron.__file__).parent)
    return ["polychron", *(f"polychron.{each}" for each in found if each != "__init__")]


def test_mypy() -> None:
    options = ["--strict", "--no-error-summary", "--follow-imports=silent", "--cache-dir=/dev/null"]
    modules = [word for each in modules_of_the_package() for word in ("-m", each)]
    for judged in (modules, [f"{each}.py" for each in names(HERE)]):
        command = [sys.executable, "-m", "mypy", *options, *judged]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
        assert done.stdout + done.stderr == ""


def test_pyright(tmp_path: Path) -> None:
    """What a user's editor sees of the package: every name has a known type."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    program = tmp_path / "program.py"
    program.write_text(
        "import polychron\n"
        + "".join(f"reveal_type(polychron.{name})\n" for name in polychron.__all__)
        + "async def main(session: polychron.Session) -> None:\n"
        "    reply = session.run_async({}, timeout=1.0, copy=False)\n"
        "    reveal_type(await reply)\n"
        "    reveal_type(reply.result())\n"
    )
    settings = {"include": ["program.py"], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        cwd=tmp_path, capture_output=True, text=True,
    )
    if not done.stdout.startswith("{"):
        pytest.skip(f"pyright did not start: {done.stderr.strip().splitlines()[-1:]}")
    found = json.loads(done.stdout)["generalDiagnostics"]
    errors = [each["message"] for each in found if each["severity"] == "error"]
    assert errors == [] and not [each for each in found if '" is "Unknown"' in each["message"]]
    assert [each["message"] for each in found][-2:] == [
        f'Type of "{text}" is "dict[str, Any]"' for text in ("await reply", "reply.result()")
    ]


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
