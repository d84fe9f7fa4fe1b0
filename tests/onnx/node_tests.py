#!/usr/bin/env python3
"""Writes the ONNX project's node tests into a folder, for `polychron onnx-tests`.

Needs the Python package onnx, whose wheels have had no data of these tests since 1.23:

    python3 -m venv VENV && VENV/bin/pip install onnx==1.23.2
    VENV/bin/python tests/onnx/node_tests.py DIR && build/bin/polychron onnx-tests DIR

Each test becomes DIR/NAME with model.onnx, and input_K.pb and output_K.pb in test_data_set_N.
"""
import pathlib
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def to_message(value, declared):
    """`value` as the message that ONNX's own files have for a value of the declared type."""
    if isinstance(value, onnx.TensorProto):
        return value
    if declared.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, declared.name)
    if declared.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, declared.name)
    return numpy_helper.from_array(value, declared.name)


def write(folder, test):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(test.model.SerializeToString())
    for n, data in enumerate(test.data_sets):
        data_set = folder / f"test_data_set_{n}"
        data_set.mkdir()
        graph = test.model.graph
        for kind, values, declared in zip(("input", "output"), data, (graph.input, graph.output)):
            for k, value in enumerate(values):
                message = to_message(value, declared[k])
                (data_set / f"{kind}_{k}.pb").write_bytes(message.SerializeToString())


if len(sys.argv) != 2:
    sys.exit(__doc__)
tests = collect_testcases(None)
for one in tests:
    write(pathlib.Path(sys.argv[1]) / one.name, one)
print(f"{len(tests)} node tests of ONNX {onnx.__version__} in {sys.argv[1]}")
