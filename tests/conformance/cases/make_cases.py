#!/usr/bin/env python3
"""Writes the conformance cases: each operator's definition in the specification, computed here in
float64 or in exact integers, without any code of the project. Needs NumPy.

  make_cases.py          writes the files beside it
  make_cases.py --check  tells whether they are what it would write
"""
import importlib.util
import json
import pathlib
import sys

if importlib.util.find_spec("numpy") is None:
    print("skipped: no NumPy, with which the conformance cases would be computed")
    sys.exit(0)

sys.dont_write_bytecode = True
from formulas import activation, convolution, core, elementwise, indexing, matrix, movement
from formulas import normalization, pooling, quantization, recurrent, reduction, resampling
from formulas import subgraph, unary

FAMILIES = (elementwise, unary, activation, matrix, convolution, pooling, resampling,
            normalization, reduction, movement, indexing, quantization, recurrent, subgraph)
FOLDER = pathlib.Path(__file__).parent


def text_of(cases):
    """A case a line."""
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main():
    for family in FAMILIES:
        family.make()
    files = {f"{op}.json": text_of(cases) for op, cases in core.CASES.items()}
    count = sum(len(cases) for cases in core.CASES.values())
    size = sum(len(text) for text in files.values())
    told = f"{count} cases in {len(files)} files, {size // 1024} KiB"
    present = {path.name for path in FOLDER.glob("*.json")}
    if "--check" not in sys.argv[1:]:
        for name, text in files.items():
            (FOLDER / name).write_text(text, encoding="ascii")
        for name in present - set(files):
            (FOLDER / name).unlink()
        print(f"wrote {told}")
        return 0
    wrong = sorted(name for name in present | set(files) if name not in present or
                   (FOLDER / name).read_text(encoding="ascii") != files.get(name))
    for name in wrong:
        print(f"{name} is not what make_cases.py writes")
    if not wrong:
        print(f"up to date: {told}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
