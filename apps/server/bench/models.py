"""Writes the models of bench-serve.sh: those of tests/bench, and a MiniLM of any length.

Usage: models.py DIRECTORY. Needs Debian's python3-onnx.
"""
import pathlib
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests/bench/models"))
import generate  # noqa: E402
import networks  # noqa: E402


def of_any_length():
    """The encoder, whose number of tokens each request chooses."""
    model = networks.encoder("minilm_any", generate.SEED, 6, 384, 12, 1536, opset=14, tokens=-1)
    for value in (*model.graph.input, *model.graph.output):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_value == -1:
                dimension.dim_param = "tokens"
    return model


def main(directory):
    generate.main(directory, "mlp", "minilm", "mobilenet_v2")
    path = pathlib.Path(directory) / "minilm_any.onnx"
    if not path.exists():
        part = path.with_suffix(".part")  # an interrupted file is written anew
        onnx.save(of_any_length(), part)
        onnx.checker.check_model(str(part), full_check=True)
        part.replace(path)
    # Every length may come, and none should be built twice.
    path.with_suffix(".json").write_text('{"shapes": 249, "sizes": {"tokens": [8, 256]}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
