"""Writes the models that the benchmarks run: true shapes, random weights. Needs Debian's python3-onnx.

Usage: generate.py DIRECTORY [NAME...]   (all of networks.py if none is named; current files stay)
"""
import os
import sys

import onnx

from networks import NETWORKS

SEED = 1


def last_change():
    """The time of the latest change to the sources that make the models."""
    folder = os.path.dirname(os.path.abspath(__file__))
    return max(os.path.getmtime(os.path.join(folder, name)) for name in os.listdir(folder) if name.endswith(".py"))


def main(directory, *names):
    unknown = [name for name in names if name not in NETWORKS]
    if unknown:
        sys.exit(f"generate.py: no such model: '{unknown[0]}' ({', '.join(NETWORKS)})")
    os.makedirs(directory, exist_ok=True)
    for name in names or NETWORKS:
        path = os.path.join(directory, name + ".onnx")
        if os.path.exists(path) and os.path.getmtime(path) > last_change():
            continue
        part = path + ".part"  # an interrupted file is written anew
        onnx.save(NETWORKS[name](SEED), part)
        onnx.checker.check_model(part, full_check=True)
        os.replace(part, path)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
