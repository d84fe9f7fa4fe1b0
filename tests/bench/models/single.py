"""A model of one operator, as the survey draws it; and shapes as networks have them.

A case reads its numbers from its own `random.Random`: the same seed gives the same bytes.
"""
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8  # the newest that Debian 12's python3-onnx checks
MOST_BYTES = 64 << 20      # of inputs, weights and outputs together
MOST_ELEMENTS = 1 << 22    # of one tensor
MOST_PRODUCTS = 3e8        # multiplications with an addition

TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "int32": TensorProto.INT32,
         "int64": TensorProto.INT64, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8,
         "bool": TensorProto.BOOL}
NAMES = {number: name for name, number in TYPES.items()}

SIDES = [7, 8, 13, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112, 128, 160, 224, 256]
CHANNELS = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 512]
WIDTHS = [64, 128, 192, 256, 384, 512, 768, 1024]
LENGTHS = [1, 4, 16, 32, 50, 77, 128, 197, 256, 384, 512]


class TooLarge(Exception):
    """The case is drawn again."""


class Single:
    """The operator's operands and attributes. `random` draws shapes, `numbers` draws weights."""

    def __init__(self, operator, random):
        self.operator, self.random = operator, random
        self.numbers = np.random.default_rng(random.getrandbits(64))
        self.inputs, self.constants, self.operands = [], [], []
        self.attributes, self.results = {}, 1

    # Operands, in their order.

    def input(self, shape, data_type="float32"):
        self.bound(elements=math.prod(shape))
        name = "xabcdefgh"[len(self.inputs)]
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[data_type], shape))
        self.operands.append(name)

    def constant(self, values, data_type="int64"):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, data_type), name))
        self.operands.append(name)

    def weights(self, shape, data_type="float32", terms=1):
        """Random weights, scaled so that the sum of products is around 1."""
        self.bound(elements=math.prod(shape))
        if data_type in ("uint8", "int8"):
            self.constant(self.numbers.integers(0, 100, shape), data_type)
        else:
            self.constant(self.numbers.standard_normal(shape, np.float32) / math.sqrt(terms), data_type)

    def none(self):
        """An optional operand is left out."""
        self.operands.append("")

    # Limits, and draws that many operators share.

    def bound(self, elements=0, products=0):
        if elements > MOST_ELEMENTS or products > MOST_PRODUCTS:
            raise TooLarge

    def chance(self, share):
        return self.random.random() < share

    def choice(self, values):
        return self.random.choice(values)

    def float_type(self):
        return "float16" if self.chance(0.08) else "float32"

    def any_type(self):
        return self.random.choices(["float32", "float16", "int64", "int32", "uint8"], [78, 6, 6, 5, 5])[0]

    def channels(self):
        """In two of five cases few, from 1 to 33."""
        return self.random.randint(1, 33) if self.chance(0.4) else self.choice(CHANNELS)

    def batch(self):
        return self.random.choices([1, 2, 4, 8], [80, 8, 8, 4])[0]

    def image(self, spatial=2):
        sides = {1: [64, 128, 256, 500, 1000, 4000], 2: SIDES, 3: [4, 7, 8, 14, 16, 28]}[spatial]
        side = self.choice(sides)
        rest = [side] * spatial if self.chance(0.75) else [self.choice(sides) for _ in range(spatial)]
        shape = [self.batch(), self.channels(), *rest]
        self.bound(elements=math.prod(shape))
        return shape

    def tokens(self):
        shape = [self.batch(), self.choice(LENGTHS), self.choice(WIDTHS)]
        self.bound(elements=math.prod(shape))
        return shape

    def scores(self):
        length = self.choice(LENGTHS[2:])
        shape = [self.batch(), self.choice([1, 4, 8, 12, 16]), length, length]
        self.bound(elements=math.prod(shape))
        return shape

    def tensor(self, least=1):
        """The shape of any network's tensor, with at least this many dimensions."""
        draws = [(5, self.image), (4, self.tokens), (2, self.scores),
                 (1, lambda: self.image(1)), (1, lambda: self.image(3)),
                 (2, lambda: [self.choice([1, 16, 100, 512, 1000]), self.choice([10, 80, 85, 512, 1000, 4096])]),
                 (1, lambda: [self.choice([64, 1000, 8400, 65536, 1 << 20])]),
                 (1, lambda: [1, self.choice([80, 85, 256]), 8400 // self.choice([1, 2, 4])])]
        while True:
            shape = self.random.choices([draw for _, draw in draws], [weight for weight, _ in draws])[0]()
            if len(shape) >= least:
                self.bound(elements=math.prod(shape))
                return shape

    def axis(self, shape):
        return self.random.randrange(len(shape))

    # The results.

    def model(self):
        outputs = [f"y{i}" if i else "y" for i in range(self.results)]
        node = helper.make_node(self.operator, self.operands, outputs, **self.attributes)
        bare = helper.make_graph([node], self.operator, self.inputs, [], self.constants)
        options = {"producer_name": "polychron-survey", "ir_version": IR_VERSION,
                   "opset_imports": [helper.make_opsetid("", OPSET)]}
        bare.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
        model = onnx.shape_inference.infer_shapes(helper.make_model(bare, **options), strict_mode=True)
        total = sum(bytes_of(value.type) for value in [*model.graph.input, *model.graph.output])
        if total + sum(len(c.raw_data) for c in self.constants) > MOST_BYTES:
            raise TooLarge
        return model

    def text(self, model):
        """The operator with its operands and attributes, in a line."""
        inputs = {value.name: description(value.type) for value in model.graph.input}
        constants = {c.name: constant_text(c) for c in self.constants}
        operands = [inputs.get(name) or constants.get(name) or "none" for name in self.operands]
        results = [description(value.type) for value in model.graph.output]
        attributes = [f"{name} {value}" for name, value in self.attributes.items()]
        rest = "; " + ", ".join(attributes) if attributes else ""
        return f"{self.operator} {', '.join(operands)} -> {', '.join(results)}{rest}"


def shape_of(tensor_type):
    """The dimensions, with 0 for one that shape inference does not find."""
    return [dimension.dim_value for dimension in tensor_type.tensor_type.shape.dim]


def bytes_of(tensor_type):
    size = np.dtype(NAMES[tensor_type.tensor_type.elem_type]).itemsize
    return size * math.prod(shape_of(tensor_type))


def description(tensor_type):
    shape = ", ".join(str(n or "?") for n in shape_of(tensor_type))
    return f"{NAMES[tensor_type.tensor_type.elem_type]} [{shape}]"


def constant_text(tensor):
    array = numpy_helper.to_array(tensor)
    if array.size == 1:
        return f"constant {array.item():.4g}"
    if array.size <= 10 and array.dtype.kind in "iu":
        return f"constant {array.tolist()}"
    return f"constant {array.dtype} {list(array.shape)}"
