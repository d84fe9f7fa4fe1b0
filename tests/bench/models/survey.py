"""Draws the survey's models by a seed: one operator each. Needs Debian's python3-onnx.

Usage: survey.py DIRECTORY SEED COUNT [FAMILY,...] [--only INDEX,...]
Writes INDEX-OPERATOR.onnx for each case, then manifest.json. Case I of a seed is the same for every COUNT.
"""
import itertools
import json
import os
import random
import sys

import onnx
from onnx import TensorProto, helper

import survey_elements
import survey_sums
from single import IR_VERSION, OPSET, Single, TooLarge

ROWS = [*survey_sums.ROWS, *survey_elements.ROWS]
FAMILIES = list(dict.fromkeys(row[0] for row in ROWS))


def rows(seed):
    """The rows of cases 0, 1 and so on: a shuffled deck with each row as often as it says, then another deck."""
    cards = [row for row in ROWS for _ in range(row[2])]
    for turn in itertools.count():
        deck = list(cards)
        random.Random(f"{seed} deck {turn}").shuffle(deck)
        yield from deck


def draw(seed, index, row):
    """A case's model and its description."""
    family, operator, _, function = row
    numbers = random.Random(f"{seed} case {index}")
    while True:
        case = Single(operator, numbers)
        try:
            function(case)
            model = case.model()
        except TooLarge:
            continue
        onnx.checker.check_model(model)
        return model, {"index": index, "family": family, "operator": operator, "text": case.text(model),
                       "file": f"{index:04}-{operator}.onnx"}


def baseline():
    """The cost of a call by itself: one sum."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xay"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "a"], ["y"])], "baseline", values[:2], values[2:])
    return helper.make_model(graph, producer_name="polychron-survey", ir_version=IR_VERSION,
                             opset_imports=[helper.make_opsetid("", OPSET)])


def wanted(seed, count, families, only):
    """The indices to draw, each with its row."""
    numbered = enumerate(rows(seed))
    if only:
        last = max(only)
        return [(i, row) for i, row in itertools.islice(numbered, last + 1) if i in only]
    return list(itertools.islice(((i, row) for i, row in numbered if row[0] in families), count))


def main(directory, seed, count, families="", option="", only=""):
    families = families.split(",") if families else FAMILIES
    unknown = [name for name in families if name not in FAMILIES]
    if unknown or option not in ("", "--only"):
        sys.exit(f"survey.py: no such family: '{unknown[0]}' ({', '.join(FAMILIES)})" if unknown else __doc__.strip())
    os.makedirs(directory, exist_ok=True)
    cases = []
    onnx.save(baseline(), os.path.join(directory, "baseline.onnx"))
    for index, row in wanted(int(seed), int(count), families, {int(i) for i in only.split(",")} if only else set()):
        model, case = draw(int(seed), index, row)
        onnx.save(model, os.path.join(directory, case["file"]))
        cases.append(case)
    with open(os.path.join(directory, "manifest.json"), "w", encoding="utf-8") as file:
        json.dump({"seed": int(seed), "families": FAMILIES, "cases": cases}, file, indent=1)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5, 7):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
