"""Tensors, rounding to data types, and the cases as the runner reads them.

Floats are float64 here, integers Python's own, so that a formula is exact or nearly; what an
operand is given is rounded to its type first, and what a formula gives is rounded to the result's
type last. Random numbers come from a generator that is seeded by a case's name: a new case changes
no other.
"""
import math
import random
from fractions import Fraction

import numpy as np

FLOATS = ("float32", "float16")
RANGES = {
    "int8": (-(1 << 7), (1 << 7) - 1), "uint8": (0, (1 << 8) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1), "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1), "uint64": (0, (1 << 64) - 1),
    "int4": (-8, 7), "uint4": (0, 15),
}
INTEGERS = ("int32", "uint32", "int64", "uint64", "int8", "uint8")
TYPES = FLOATS + INTEGERS
NAN, INF = math.nan, math.inf


def to_float(value, kind):
    """The float of `kind` nearest to a number, ties to even; beyond the largest, an infinity."""
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            return float((np.float32 if kind == "float32" else np.float16)(value))
    bits, largest = (24, 2.0 ** 128) if kind == "float32" else (11, 2.0 ** 16)
    shift = max(abs(value).bit_length() - bits, 0)  # of an integer, which a float64 may not hold
    nearest = round(Fraction(abs(value), 1 << shift)) << shift
    return math.copysign(INF if nearest >= largest else float(nearest), value)


def cast_number(value, kind):
    """The specification's "cast" of an option's number to a type: to the nearest in its range."""
    if kind in FLOATS:
        return to_float(float(value), kind)
    low, high = RANGES[kind]
    return high if value > high else low if value < low else round(value)


class Tensor:
    """Numbers of a data type: float64, or Python's integers, in an array."""

    def __init__(self, kind, values, shape=None, constant=False):
        self.kind, self.constant = kind, constant
        array = np.array(values, dtype=object)
        if shape is not None:
            array = array.reshape(shape)
        flat = [self._element(value) for value in array.ravel().tolist()]
        self.a = np.empty(len(flat), dtype=np.float64 if kind in FLOATS else object)
        self.a[:] = flat
        self.a = self.a.reshape(array.shape)

    def _element(self, value):
        value = value.item() if isinstance(value, (np.ndarray, np.generic)) else value
        if self.kind in FLOATS:
            return to_float(value, self.kind)
        low, high = RANGES[self.kind]
        assert value == int(value) and low <= value <= high, f"{value} is no {self.kind}"
        return int(value)

    @property
    def shape(self):
        return self.a.shape

    def as_constant(self):
        return Tensor(self.kind, self.a, constant=True)

    def json(self):
        text = [number(value, self.kind) for value in self.a.ravel().tolist()]
        fields = {"dataType": self.kind, "shape": list(self.shape), "data": text}
        if self.constant:
            fields["constant"] = True
        return fields


def number(value, kind="float64"):
    """A number in the format: the shortest decimal that is rounded to it."""
    if kind in ("int64", "uint64"):
        return f"{value}n"
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else 0
    if kind == "float64":
        return value
    narrow = (np.float32 if kind == "float32" else np.float16)(value)
    written = float(str(narrow))
    assert to_float(written, kind) == value, f"{value} is no {kind}"
    return int(written) if written == int(written) and abs(written) < 1e7 else written


class Numbers:
    """Random numbers for one case."""

    def __init__(self, seed):
        self.generator = random.Random(seed)

    def below(self, count):
        return int(self.generator.random() * count)

    def whole(self, low, high, kind, shape):
        """Integers of [low, high], as any type."""
        return self._fill(kind, shape, lambda: low + self.below(high - low + 1))

    def eighths(self, low, high, kind, shape):
        """Multiples of 1/8: a few of them are added and multiplied without an error."""
        return self._fill(kind, shape, lambda: (8 * low + self.below(8 * (high - low) + 1)) / 8)

    def decimals(self, low, high, kind, shape):
        """Numbers with three decimals, brought to the type."""
        def draw():
            return round(low + self.generator.random() * (high - low), 3)
        return self._fill(kind, shape, draw)

    def distinct(self, kind, shape):
        """All elements different, in a random order: a wrong move shows."""
        count = math.prod(shape)
        low, high = (0, 1 << 11) if kind in FLOATS else RANGES[kind]
        low, high = max(low, -500), min(high, 500)
        start = low + self.below(max(high - low - count, 1))
        values = list(range(start, start + count))
        for i in range(count - 1, 0, -1):
            j = self.below(i + 1)
            values[i], values[j] = values[j], values[i]
        if kind not in FLOATS and count > high - low + 1:
            values = [low + (v - low) % (high - low + 1) for v in values]
        return Tensor(kind, values, shape)

    def any(self, kind, shape):
        """Numbers of either sign, small enough for sums and products of two in every type."""
        if kind in FLOATS:
            return self.decimals(-10, 10, kind, shape)
        low, high = RANGES[kind]
        return self.whole(max(low, -9), min(high, 11), kind, shape)

    def picked(self, count, total):
        """`count` of the numbers below `total`, each once."""
        pool = list(range(total))
        return [pool.pop(self.below(len(pool))) for _ in range(count)]

    def _fill(self, kind, shape, draw):
        values = [draw() for _ in range(math.prod(shape))]
        return Tensor(kind, values if shape else values[0], shape)


# Filled by the formulas' modules: by operator its formula and tolerance, and its cases.
FORMULAS = {}
TOLERANCES = {}
CASES = {}


def ulp(float32, float16=None):
    """The specification's conformance tests' metric: places in the order of a type's values."""
    return "ULP", float32, float32 if float16 is None else float16


def absolute(float32, float16=None):
    return "ATOL", float32, float32 if float16 is None else float16


def formula(*names, tolerance=ulp(0)):
    """Says that a function computes these operators: from the arguments by name, tensors as Tensor,
    to a Tensor or several. `tolerance` may be a function of the arguments."""
    def register(function):
        for name in names:
            FORMULAS[name] = function
            TOLERANCES[name] = tolerance
        return function
    return register


def compute(name, arguments):
    """All results of an operator, and the tolerance of each: metric and value."""
    function = FORMULAS[name]
    options = arguments.get("options", {})
    plain = {**{k: v for k, v in arguments.items() if k != "options"}, **options}
    with np.errstate(all="ignore"):
        if "op" in function.__code__.co_varnames[:function.__code__.co_argcount]:
            results = function(op=name, **plain)
        else:
            results = function(**plain)
    results = results if isinstance(results, (list, tuple)) else [results]
    tolerance = TOLERANCES[name]
    metric, float32, float16 = tolerance(**plain) if callable(tolerance) else tolerance
    kind = results[0].kind
    if kind not in FLOATS:
        return results, ("ULP", 0)
    return results, (metric, float32 if kind == "float32" else float16)


class Graph:
    """A case in the making: operators one after the other, their results computed along."""

    def __init__(self, op, name):
        self.op, self.name = op, name
        self.numbers = Numbers(f"{op} {name}")
        self.inputs, self.operators, self.outputs = {}, [], {}
        self.names = {}  # by a tensor's identity
        self.kept = []  # so that each identity is unique
        self.metric, self.allowed = None, 0

    def input(self, name, tensor):
        assert name not in self.inputs, name
        self.inputs[name] = tensor.json()
        self._name(tensor, name)
        return tensor

    def call(self, op, arguments, results=None):
        """Adds an operator; tensors that have no name yet become inputs of their parameter's."""
        tensors, (metric, allowed) = compute(op, arguments)
        several = op in ("split", "gru", "lstm", "lstmCell")
        stem = f"{op}{len(self.operators)}" if results is None else results
        names = [f"{stem}{i}" for i in range(len(tensors))] if several else [stem]
        written = [{key: self._written(key, value)} for key, value in arguments.items()]
        self.operators.append({"name": op, "arguments": written,
                               "outputs": names if several else names[0]})
        for tensor, name in zip(tensors, names):
            self._name(tensor, name)
        if allowed or self.metric is None:
            assert self.metric in (None, metric) or not self.allowed, "metrics do not add up"
            self.metric = metric
        self.allowed += allowed
        return tensors if several else tensors[0]

    def output(self, *tensors, allowed=None):
        """The case is done: these are its outputs."""
        for tensor in tensors:
            self.outputs[self.names[id(tensor)]] = tensor.json()
        allowed = self.allowed if allowed is None else min(allowed, self.allowed)
        cases = CASES.setdefault(self.op, [])
        assert all(case["name"] != self.name for case in cases), f"{self.op}: two {self.name}"
        cases.append({"name": self.name, "source": "spec", "inputs": self.inputs,
                      "operators": self.operators, "outputs": self.outputs,
                      "tolerance": {"metric": self.metric, "value": allowed}})

    def _name(self, tensor, name):
        self.names[id(tensor)] = name
        self.kept.append(tensor)

    def _written(self, key, value):
        if isinstance(value, Tensor):
            if id(value) not in self.names:
                self.input(key, value)
            return self.names[id(value)]
        if isinstance(value, dict):
            return {k: self._written(k, v) for k, v in value.items()}
        if isinstance(value, list) and value and isinstance(value[0], Tensor):
            return [self._written(f"{key}{i}", v) for i, v in enumerate(value)]
        if isinstance(value, float):
            return number(value)
        if isinstance(value, int) and abs(value) > 1 << 53:
            return f"{value}n"
        return value


def case(op, name, **arguments):
    """A case of one operator: its arguments in the method's order."""
    graph = Graph(op, name)
    results = graph.call(op, arguments, "output")
    graph.output(*(results if isinstance(results, (list, tuple)) else [results]))
