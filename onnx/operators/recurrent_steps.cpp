// RNN, GRU and LSTM unrolled, with a few operators for each step.
#include <functional>
#include <set>

#include "onnx/operators/recurrent.hpp"

namespace polychron::onnx::detail {

namespace {

using Activation = std::function<Term(const Term&)>;

/// The function that `names[i]` names.
Activation activation(const Node& node, const std::vector<std::string>& names, std::size_t i) {
  const auto alphas = node.real_list("activation_alpha").value_or(std::vector<double>{});
  const auto betas = node.real_list("activation_beta").value_or(std::vector<double>{});
  // The lists have one entry for each function that takes the parameter.
  const auto before = [&](const std::set<std::string>& takers) {
    std::size_t entries = 0;
    for (std::size_t k = 0; k < i; ++k) entries += takers.count(names[k]);
    return entries;
  };
  const auto& name = names[i];
  const auto at =
      before({"Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"});
  const auto bt = before({"Affine", "ScaledTanh", "HardSigmoid"});
  const auto alpha = [&](double otherwise) { return at < alphas.size() ? alphas[at] : otherwise; };
  const auto beta = [&](double otherwise) { return bt < betas.size() ? betas[bt] : otherwise; };
  if (name == "Sigmoid") return [](const Term& x) { return x.sigmoid(); };
  if (name == "Tanh") return [](const Term& x) { return x.tanh(); };
  if (name == "Relu") return [](const Term& x) { return x.relu(); };
  if (name == "Affine") return [a = alpha(1), b = beta(0)](const Term& x) { return x * a + b; };
  if (name == "LeakyRelu")
    return [a = alpha(0.01)](const Term& x) { return (x < 0).choose(x * a, x); };
  if (name == "ThresholdedRelu")
    return [a = alpha(1)](const Term& x) { return (x > a).choose(x, x.number(0)); };
  if (name == "ScaledTanh")
    return [a = alpha(1), b = beta(1)](const Term& x) { return (x * b).tanh() * a; };
  if (name == "HardSigmoid")
    return [a = alpha(0.2), b = beta(0.5)](const Term& x) { return (x * a + b).clamped(0, 1); };
  if (name == "Softsign") return [](const Term& x) { return x / (x.abs() + 1); };
  if (name == "Softplus")
    return [](const Term& x) { return x.relu() + ((-x.abs()).exp() + 1).log(); };
  if (name == "Elu")
    return [a = alpha(1)](const Term& x) { return x.relu() + ((x.min(0)).exp() - 1) * a; };
  malformed("there is no activation " + quote(name));
}

/// One direction's weights: transposed, so that rows of the batch are multiplied with them.
struct Cell {
  Term w, r;
  std::optional<Term> input_bias, recurrent_bias;  ///< [gates x hidden]
  std::optional<Term> peephole;                    ///< [3 x hidden]
  std::vector<Activation> functions;
  std::optional<double> clip;
  std::uint32_t hidden = 0;
  bool flag = false;  ///< linear_before_reset, input_forget

  Term gate(const Term& gates, std::uint32_t i) const {
    return gates.slice(1, i * hidden, (i + 1) * hidden);
  }
  Term clipped(const Term& x) const { return clip ? x.clamped(-*clip, *clip) : x; }
};

struct State {
  Term h;
  std::optional<Term> c;
};

/// `x` is the input times W with its bias, for one step.
using Step = State (*)(const Cell& cell, const Term& x, const State& state);

Term recurrent(const Cell& cell, const Term& h, std::uint32_t begin, std::uint32_t end) {
  const auto product = h.matmul(cell.r.slice(1, begin, end));
  return cell.recurrent_bias ? product + cell.recurrent_bias->slice(0, begin, end) : product;
}

State rnn_step(const Cell& cell, const Term& x, const State& state) {
  return {cell.functions[0](cell.clipped(x + recurrent(cell, state.h, 0, cell.hidden))), {}};
}

/// Gates z, r, h.
State gru_step(const Cell& cell, const Term& x, const State& state) {
  const auto n = cell.hidden;
  const auto zr = x.slice(1, 0, 2 * n) + recurrent(cell, state.h, 0, 2 * n);
  const auto z = cell.functions[0](cell.clipped(cell.gate(zr, 0)));
  const auto r = cell.functions[0](cell.clipped(cell.gate(zr, 1)));
  const auto hidden = cell.flag ? r * recurrent(cell, state.h, 2 * n, 3 * n)
                                : recurrent(cell, r * state.h, 2 * n, 3 * n);
  const auto h = cell.functions[1](cell.clipped(cell.gate(x, 2) + hidden));
  return {(1 - z) * h + z * state.h, {}};
}

/// Gates i, o, f, c.
State lstm_step(const Cell& cell, const Term& x, const State& state) {
  const auto gates = x + recurrent(cell, state.h, 0, 4 * cell.hidden);
  const auto peep = [&](const Term& gate, std::uint32_t i, const Term& c) {
    const auto n = cell.hidden;
    return cell.peephole ? gate + cell.peephole->slice(0, i * n, (i + 1) * n) * c : gate;
  };
  const auto i = cell.functions[0](cell.clipped(peep(cell.gate(gates, 0), 0, *state.c)));
  const auto f =
      cell.flag ? 1 - i : cell.functions[0](cell.clipped(peep(cell.gate(gates, 2), 2, *state.c)));
  const auto candidate = cell.functions[1](cell.clipped(cell.gate(gates, 3)));
  const auto c = f * *state.c + i * candidate;
  const auto o = cell.functions[0](cell.clipped(peep(cell.gate(gates, 1), 1, c)));
  return {o * cell.functions[2](c), c};
}

Step step_of(const Kind& kind) {
  return kind.has_cell ? lstm_step : kind.gates == 1 ? rnn_step : gru_step;
}

Cell read_cell(const Recurrence& network, std::uint32_t d) {
  const auto& node = network.node;
  const auto hidden = network.units(), size = network.kind.gates * hidden;
  Cell cell{network.w.at(0, d).transpose({1, 0}),
            network.r.at(0, d).transpose({1, 0}),
            {},
            {},
            {},
            {},
            {},
            hidden};
  if (network.bias) {
    const auto both = network.bias->at(0, d);
    cell.input_bias = both.slice(0, 0, size);
    cell.recurrent_bias = both.slice(0, size, 2 * size);
  }
  if (node.has_input(7)) cell.peephole = term(network.node, 7).at(0, d);
  const auto names = network.functions();
  const auto each = network.kind.functions.size();
  for (std::size_t i = 0; i < each; ++i)
    cell.functions.push_back(activation(node, names, d * each + i));
  if (node.has_attribute("clip")) cell.clip = node.real("clip", 0);
  cell.flag = node.integer("linear_before_reset", 0) != 0 || node.integer("input_forget", 0) != 0;
  return cell;
}

/// The state after a step, which a sequence that is shorter keeps.
State kept(const std::optional<Term>& lengths, const State& fresh, const State& old,
           std::uint32_t step) {
  if (!lengths) return fresh;
  const auto runs = *lengths > static_cast<double>(step);
  State state{runs.choose(fresh.h, old.h), {}};
  if (fresh.c) state.c = runs.choose(*fresh.c, *old.c);
  return state;
}

/// One direction: the outputs of all steps in the input's order, and the last state.
std::pair<std::vector<Term>, State> walk(const Recurrence& network, std::uint32_t d) {
  const auto steps = network.steps(), batch = network.batch(), units = network.units();
  const auto& x = network.x;
  const auto cell = read_cell(network, d);
  const auto step = step_of(network.kind);
  const auto initial = [&](const std::optional<Term>& states) {
    return states ? states->at(0, d) : x.number(0).expand({batch, units});
  };
  State state{initial(network.hidden), {}};
  if (network.kind.has_cell) state.c = initial(network.cell);
  std::optional<Term> lengths;
  if (network.lengths) lengths = network.lengths->reshape({batch, 1});
  // All steps' inputs are multiplied at once.
  auto products = x.reshape({steps * batch, x.shape()[2]}).matmul(cell.w);
  if (cell.input_bias) products = products + *cell.input_bias;
  network.node.importer.spend(std::uint64_t{steps} * 16);
  std::vector<Term> outputs(steps, x);
  for (std::uint32_t s = 0; s < steps; ++s) {
    const auto at = network.runs_backwards(d) ? steps - 1 - s : s;
    const auto input = products.slice(0, at * batch, (at + 1) * batch);
    // Backwards, a shorter sequence begins at its own end: until then the state stays unchanged.
    state = kept(lengths, step(cell, input, state), state, at);
    outputs[at] = state.h;
  }
  return {outputs, state};
}

}  // namespace

States unrolled(const Recurrence& network) {
  const auto batch = network.batch(), units = network.units();
  std::vector<Term> hidden, cell, sequence;
  for (std::uint32_t d = 0; d < network.directions(); ++d) {
    const auto [outputs, end] = walk(network, d);
    hidden.push_back(end.h.unsqueeze(0));
    if (end.c) cell.push_back(end.c->unsqueeze(0));
    if (!network.node.wants_output(0)) continue;
    std::vector<Term> rows;
    for (const auto& output : outputs) rows.push_back(output.reshape({1, 1, batch, units}));
    sequence.push_back(concat(rows, 0));
  }
  States states{concat(hidden, 0), {}, {}};
  if (!cell.empty()) states.cell = concat(cell, 0);
  if (!sequence.empty()) states.sequence = concat(sequence, 1);
  return states;
}

}  // namespace polychron::onnx::detail
