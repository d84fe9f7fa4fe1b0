"""Recurrent networks: a step of each cell as the specification composes it, and sequences."""
import numpy as np

from .activation import sigmoid
from .core import Numbers, Tensor, case, formula, ulp
from .elementwise import each

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0.0),
    "sigmoid": lambda x: each(sigmoid, x).astype(float),
    "tanh": np.tanh,
}
GRU_LAYOUTS = ("zrn", "rzn")
LSTM_LAYOUTS = ("iofg", "ifgo")


def gates(array, layout):
    """The parts of an array's first dimension, by the letter of their gate."""
    return dict(zip(layout, np.split(array, len(layout))))


def gru_step(x, w, r, h, b, rb, reset_after, layout, activations):
    f, g = (ACTIVATIONS[name] for name in activations)
    w, r, b, rb = (gates(array, layout) for array in (w, r, b, rb))
    z = f(x @ w["z"].T + h @ r["z"].T + b["z"] + rb["z"])
    reset = f(x @ w["r"].T + h @ r["r"].T + b["r"] + rb["r"])
    if reset_after:
        n = g(x @ w["n"].T + b["n"] + reset * (h @ r["n"].T + rb["n"]))
    else:
        n = g(x @ w["n"].T + b["n"] + (reset * h) @ r["n"].T + rb["n"])
    return z * h + n * (1 - z)


def lstm_step(x, w, r, h, c, b, rb, p, layout, activations):
    f, g, out = (ACTIVATIONS[name] for name in activations)
    w, r, b, rb = (gates(array, layout) for array in (w, r, b, rb))
    p = gates(p, "iof")
    total = {k: x @ w[k].T + h @ r[k].T + b[k] + rb[k] for k in "iofg"}
    i, o, forget = (f(total[k] + c * p[k]) for k in "iof")
    c = forget * c + i * g(total["g"])
    return o * out(c), c


def zeros(tensor, *shape):
    return np.zeros(shape) if tensor is None else tensor.a


def cell_terms(places):
    def tolerance(input, weight, recurrentWeight, hiddenSize, **_):
        steps = input.shape[0] if input.a.ndim == 3 else 1
        return ulp(places * steps * (input.shape[-1] + hiddenSize))
    return tolerance


@formula("gruCell", tolerance=cell_terms(3))
def gru_cell(input, weight, recurrentWeight, hiddenState, hiddenSize, bias=None,
             recurrentBias=None, resetAfter=True, layout="zrn", activations=("sigmoid", "tanh")):
    size = 3 * hiddenSize
    return Tensor(input.kind, gru_step(
        input.a, weight.a, recurrentWeight.a, hiddenState.a, zeros(bias, size),
        zeros(recurrentBias, size), resetAfter, layout, activations))


@formula("lstmCell", tolerance=cell_terms(1))
def lstm_cell(input, weight, recurrentWeight, hiddenState, cellState, hiddenSize, bias=None,
              recurrentBias=None, peepholeWeight=None, layout="iofg",
              activations=("sigmoid", "tanh", "tanh")):
    size = 4 * hiddenSize
    results = lstm_step(
        input.a, weight.a, recurrentWeight.a, hiddenState.a, cellState.a, zeros(bias, size),
        zeros(recurrentBias, size), zeros(peepholeWeight, 3 * hiddenSize), layout, activations)
    return [Tensor(input.kind, result) for result in results]


def sequence(steps, direction, states, step):
    """The last states of each direction, and all the first states in the order of the input."""
    count = 2 if direction == "both" else 1
    whole = np.zeros((steps, count, *states[0][0].shape))
    last = [np.array(state) for state in states]
    for d in range(count):
        backward = d == 1 or direction == "backward"
        for t in reversed(range(steps)) if backward else range(steps):
            now = step(t, d, [state[d] for state in last])
            for state, value in zip(last, now):
                state[d] = value
            whole[t, d] = now[0]
    return last, whole


@formula("gru", tolerance=cell_terms(6))
def gru(input, weight, recurrentWeight, steps, hiddenSize, bias=None, recurrentBias=None,
        initialHiddenState=None, resetAfter=True, returnSequence=False, direction="forward",
        layout="zrn", activations=("sigmoid", "tanh")):
    count = 2 if direction == "both" else 1
    b, rb = (zeros(t, count, 3 * hiddenSize) for t in (bias, recurrentBias))
    hidden = zeros(initialHiddenState, count, input.shape[1], hiddenSize)

    def step(t, d, states):
        return [gru_step(input.a[t], weight.a[d], recurrentWeight.a[d], states[0], b[d], rb[d],
                         resetAfter, layout, activations)]
    last, whole = sequence(steps, direction, [hidden], step)
    results = [last[0], whole] if returnSequence else [last[0]]
    return [Tensor(input.kind, result) for result in results]


@formula("lstm", tolerance=cell_terms(3))
def lstm(input, weight, recurrentWeight, steps, hiddenSize, bias=None, recurrentBias=None,
         peepholeWeight=None, initialHiddenState=None, initialCellState=None,
         returnSequence=False, direction="forward", layout="iofg",
         activations=("sigmoid", "tanh", "tanh")):
    count = 2 if direction == "both" else 1
    b, rb = (zeros(t, count, 4 * hiddenSize) for t in (bias, recurrentBias))
    p = zeros(peepholeWeight, count, 3 * hiddenSize)
    states = [zeros(t, count, input.shape[1], hiddenSize)
              for t in (initialHiddenState, initialCellState)]

    def step(t, d, now):
        return lstm_step(input.a[t], weight.a[d], recurrentWeight.a[d], now[0], now[1], b[d],
                         rb[d], p[d], layout, activations)
    last, whole = sequence(steps, direction, states, step)
    results = [*last, whole] if returnSequence else last
    return [Tensor(input.kind, result) for result in results]


def adder(op, gate_count, states):
    """Makes cases of a network or a cell; `states` are its operands of a state's shape."""
    cell = op.endswith("Cell")

    def add(label, kind="float32", steps=2, batch=2, width=3, hidden=2, given=(), constant=True,
            **options):
        numbers = Numbers(f"{op} {label}")
        count = 2 if options.get("direction") == "both" else 1
        lead = () if cell else (count,)

        def draw(*shape, fixed=constant):
            # Positive: no sum in a gate is near 0, where its relative error would grow.
            drawn = numbers.eighths(0, 1, kind, shape)
            return drawn.as_constant() if fixed else drawn
        tensors = {
            "input": draw(*(() if cell else (steps,)), batch, width, fixed=False),
            "weight": draw(*lead, gate_count * hidden, width),
            "recurrentWeight": draw(*lead, gate_count * hidden, hidden),
        }
        if cell:
            for state in states:
                tensors[state] = draw(batch, hidden, fixed=False)
        else:
            tensors["steps"] = steps
        tensors["hiddenSize"] = hidden
        for name in given:
            if name in states:
                options[name] = draw(count, batch, hidden, fixed=False)
            else:
                size = 3 if name == "peepholeWeight" else gate_count
                options[name] = draw(*lead, size * hidden)
        case(op, f"{kind} {label}", **tensors, **({"options": options} if options else {}))
    return add


def common(add, biases, activations, layout, other_activations, cell=False):
    """Cases of cells and networks of both kinds."""
    add("plain")
    add("weights are inputs", constant=False)
    if cell:
        add("bias", given=biases[:1])
        add("recurrent bias", given=biases[1:])
        add("both biases", given=biases)
        add("both biases, inputs", given=biases, constant=False)
        add("gates in the other order", layout=layout)
        add("a hidden state larger than the input", width=1, hidden=4, batch=1)
    add("gates in the other order, biases", layout=layout, given=biases, batch=1)
    add("half", "float16", given=biases, width=2)
    add("activations", activations=activations, given=biases, batch=1)
    add("other activations", activations=other_activations, width=1, batch=1, hidden=3)
    add("one of each", batch=1, width=1, hidden=1, given=biases)


def sequences(add, everything, states):
    for direction in ("forward", "backward", "both"):
        add(f"{direction}, sequence", direction=direction, returnSequence=True, steps=3, batch=1,
            width=1)
        add(f"{direction}, sequence, everything", direction=direction, returnSequence=True,
            given=everything, width=2, steps=3)
    add("both, sequence", "float16", direction="both", returnSequence=True, batch=1, width=1)
    add("both, biases and states", direction="both", given=everything, batch=1, width=2)
    add("backward, states", direction="backward", given=states, steps=3, batch=3, width=1)
    add("one step", steps=1, given=states)
    add("one step, both, sequence", steps=1, direction="both", returnSequence=True, batch=1,
        width=1)
    add("many steps", steps=6, batch=1, width=2)


def make():
    biases = ["bias", "recurrentBias"]
    add = adder("gruCell", 3, ["hiddenState"])
    common(add, biases, ["relu", "sigmoid"], "rzn", ["tanh", "relu"], cell=True)
    for layout in GRU_LAYOUTS:
        add(f"reset before, {layout}", resetAfter=False, layout=layout, given=biases)
    add("reset before", "float16", resetAfter=False)

    add = adder("gru", 3, ["initialHiddenState"])
    common(add, biases, ["relu", "sigmoid"], "rzn", ["tanh", "relu"])
    sequences(add, [*biases, "initialHiddenState"], ["initialHiddenState"])
    for layout in GRU_LAYOUTS:
        add(f"reset before, {layout}", resetAfter=False, layout=layout, direction="both",
            given=[*biases, "initialHiddenState"], batch=1)

    add = adder("lstmCell", 4, ["hiddenState", "cellState"])
    three = [*biases, "peepholeWeight"]
    common(add, biases, ["relu", "sigmoid", "tanh"], "ifgo", ["tanh", "relu", "sigmoid"],
           cell=True)
    add("peepholes", given=["peepholeWeight"])
    for layout in LSTM_LAYOUTS:
        add(f"peepholes and biases, {layout}", given=three, layout=layout)

    add = adder("lstm", 4, ["initialHiddenState", "initialCellState"])
    common(add, biases, ["relu", "sigmoid", "tanh"], "ifgo", ["tanh", "relu", "sigmoid"])
    states = ["initialHiddenState", "initialCellState"]
    sequences(add, [*three, *states], states)
    add("peepholes", given=["peepholeWeight"])
    add("an initial cell state alone", given=states[1:])
    for layout in LSTM_LAYOUTS:
        add(f"both, peepholes, {layout}", direction="both", layout=layout, batch=1,
            given=[*three, *states])
