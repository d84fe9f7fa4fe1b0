// RNN, GRU and LSTM: as WebNN's networks where possible, otherwise unrolled, with a few operators
// for each step.
//
// Dimensions: X [steps, batch, input], W [directions, gates x hidden, input], R the same
// with hidden, B [directions, 2 x gates x hidden]. With layout 1 the batch comes first.
#include <array>
#include <functional>
#include <set>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"

namespace polychron::onnx::detail {

namespace {

using Activation = std::function<Term(const Term&)>;

Activation activation(const Node& node, std::size_t i, const std::vector<std::string>& defaults) {
  auto names = node.text_list("activations");
  if (names.empty()) names = defaults;
  const auto alphas = node.real_list("activation_alpha").value_or(std::vector<double>{});
  const auto betas = node.real_list("activation_beta").value_or(std::vector<double>{});
  // The lists have one entry for each function that takes the parameter.
  const auto before = [&](const std::set<std::string>& takers) {
    std::size_t entries = 0;
    for (std::size_t k = 0; k < i; ++k) entries += takers.count(names[k % names.size()]);
    return entries;
  };
  const auto name = names[i % names.size()];
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

/// The properties of a kind of network.
struct Kind {
  Step step;
  std::uint32_t gates;
  std::vector<std::string> functions;  ///< defaults, for one direction
  bool has_cell;
};

Cell read_cell(Node& node, const Kind& kind, std::uint32_t direction, std::uint32_t hidden) {
  const auto part = [&](std::size_t i) { return term(node, i).at(0, direction); };
  Cell cell{part(1).transpose({1, 0}), part(2).transpose({1, 0}), {}, {}, {}, {}, {}, hidden};
  const auto size = kind.gates * hidden;
  if (node.has_input(3)) {
    cell.input_bias = part(3).slice(0, 0, size);
    cell.recurrent_bias = part(3).slice(0, size, 2 * size);
  }
  if (node.has_input(7)) cell.peephole = part(7);
  for (std::size_t i = 0; i < kind.functions.size(); ++i)
    cell.functions.push_back(
        activation(node, direction * kind.functions.size() + i, kind.functions));
  if (node.has_attribute("clip")) cell.clip = node.real("clip", 0);
  cell.flag = node.integer("linear_before_reset", 0) != 0 || node.integer("input_forget", 0) != 0;
  return cell;
}

/// Steps beyond a sequence's length keep the state, and their output is 0.
struct Lengths {
  std::optional<Term> lengths;  ///< [batch, 1]

  State kept(const State& fresh, const State& old, std::uint32_t step) const {
    if (!lengths) return fresh;
    const auto runs = *lengths > static_cast<double>(step);
    State state{runs.choose(fresh.h, old.h), {}};
    if (fresh.c) state.c = runs.choose(*fresh.c, *old.c);
    return state;
  }
  Term shown(const Term& h, std::uint32_t step) const {
    if (!lengths) return h;
    return (*lengths > static_cast<double>(step)).choose(h, h.number(0));
  }
};

/// One direction: the outputs of all steps in the input's order, and the last state.
std::pair<std::vector<Term>, State> walk(const Kind& kind, const Cell& cell, const Term& x,
                                         State state, const Lengths& lengths, bool backwards) {
  const auto steps = x.shape()[0];
  const auto batch = x.shape()[1];
  // All steps' inputs are multiplied at once.
  auto products = x.reshape({steps * batch, x.shape()[2]}).matmul(cell.w);
  if (cell.input_bias) products = products + *cell.input_bias;
  x.node().importer.spend(std::uint64_t{steps} * 16);
  std::vector<std::optional<Term>> outputs(steps);
  for (std::uint32_t s = 0; s < steps; ++s) {
    const auto at = backwards ? steps - 1 - s : s;
    const auto input = products.slice(0, at * batch, (at + 1) * batch);
    // Backwards, a shorter sequence begins at its own end: until then the state stays unchanged.
    state = lengths.kept(kind.step(cell, input, state), state, at);
    outputs[at] = lengths.shown(state.h, at);
  }
  std::vector<Term> list;
  for (const auto& output : outputs) list.push_back(*output);
  return {list, state};
}

Term initial(Node& node, std::size_t i, std::uint32_t direction, const Shape& shape, bool batched) {
  if (!node.has_input(i)) return term(node, 0).number(0).expand(shape);
  const auto state = term(node, i).at(batched ? 1 : 0, direction);
  if (state.shape() != shape)
    malformed("input " + std::to_string(i) + " of shape " + to_string(node.shape(i)) +
              ", each direction needs " + to_string(shape));
  return state;
}

/// WebNN's activations for all functions of a network, which its directions must share; nullopt if
/// WebNN lacks one of them.
std::optional<std::vector<RecurrentNetworkActivation>> shared_activations(
    const Node& node, const Kind& kind, std::uint32_t directions) {
  auto names = node.text_list("activations");
  if (names.empty()) names = kind.functions;
  std::vector<RecurrentNetworkActivation> list;
  for (std::size_t i = 0; i < directions * kind.functions.size(); ++i) {
    const auto& name = names[i % names.size()];
    const auto known = name == "Sigmoid" ? RecurrentNetworkActivation::sigmoid
                       : name == "Tanh"  ? RecurrentNetworkActivation::tanh
                                         : RecurrentNetworkActivation::relu;
    if (name != "Sigmoid" && name != "Tanh" && name != "Relu") return std::nullopt;
    if (i < kind.functions.size())
      list.push_back(known);
    else if (list[i % kind.functions.size()] != known)
      return std::nullopt;
  }
  return list;
}

/// Adds one of WebNN's networks; false if that is not possible. WebNN has no sequence lengths, no
/// clipping and no coupled gates, and its output gate uses the cell state before the step.
bool direct(Node& node, const Kind& kind) {
  if (kind.gates == 1 || node.integer("layout", 0) != 0 || node.has_attribute("clip") ||
      node.has_input(4) || node.has_input(7) || node.integer("input_forget", 0) != 0)
    return false;
  if (node.rank(0) != 3 || node.rank(1) != 3 || node.rank(2) != 3) return false;
  const auto directions = node.shape(1)[0];
  const auto hidden = node.shape(2)[2];
  const auto text = node.text("direction", "forward");
  if ((text == "bidirectional" ? 2U : 1U) != directions || node.shape(1)[1] != kind.gates * hidden)
    return false;  // the unrolled form reports the error
  const auto activations = shared_activations(node, kind, directions);
  if (!activations) return false;
  const auto steps = node.shape(0)[0];
  const auto direction = text == "bidirectional" ? RecurrentNetworkDirection::both
                         : text == "reverse"     ? RecurrentNetworkDirection::backward
                                                 : RecurrentNetworkDirection::forward;
  std::optional<Operand> bias, recurrent_bias;
  if (node.has_input(3)) {
    const auto size = kind.gates * hidden;
    const auto both = term(node, 3);
    bias = both.slice(1, 0, size).operand();
    recurrent_bias = both.slice(1, size, 2 * size).operand();
  }
  const auto initial_hidden_state = node.optional_operand(5);
  std::vector<Operand> results;
  if (kind.has_cell) {
    results = node.builder.lstm(node.operand(0), node.operand(1), node.operand(2),
                                {.steps = steps,
                                 .hidden_size = hidden,
                                 .return_sequence = node.wants_output(0),
                                 .direction = direction,
                                 .activations = activations},
                                {.bias = bias,
                                 .recurrent_bias = recurrent_bias,
                                 .initial_hidden_state = initial_hidden_state,
                                 .initial_cell_state = node.optional_operand(6)},
                                node.label());
  } else {
    results = node.builder.gru(node.operand(0), node.operand(1), node.operand(2),
                               {.steps = steps,
                                .hidden_size = hidden,
                                .reset_after = node.integer("linear_before_reset", 0) != 0,
                                .return_sequence = node.wants_output(0),
                                .direction = direction,
                                .activations = activations},
                               {.bias = bias,
                                .recurrent_bias = recurrent_bias,
                                .initial_hidden_state = initial_hidden_state},
                               node.label());
  }
  if (node.wants_output(0)) node.set(results.back(), 0);
  if (node.wants_output(1)) node.set(results[0], 1);
  if (kind.has_cell && node.wants_output(2)) node.set(results[1], 2);
  return true;
}

void recur(Node& node, const Kind& kind) {
  if (direct(node, kind)) return;
  const bool batched = node.integer("layout", 0) != 0;
  auto x = term(node, 0);
  if (x.rank() != 3 || node.rank(1) != 3 || node.rank(2) != 3) malformed("ranks of 3 are expected");
  if (batched) x = x.transpose({1, 0, 2});
  const auto directions = node.shape(1)[0];
  const auto hidden = node.shape(2)[2];
  const auto steps = x.shape()[0];
  const auto batch = x.shape()[1];
  const auto text = node.text("direction", "forward");
  if ((text == "bidirectional" ? 2U : 1U) != directions || node.shape(1)[1] != kind.gates * hidden)
    malformed("weights of shape " + to_string(node.shape(1)) + " for direction " + quote(text));
  Lengths lengths;
  if (node.has_input(4)) lengths.lengths = term(node, 4).reshape({batch, 1});
  std::vector<Term> last_h, last_c;
  std::vector<std::vector<Term>> outputs;
  for (std::uint32_t d = 0; d < directions; ++d) {
    const auto cell = read_cell(node, kind, d, hidden);
    State state{initial(node, 5, d, {batch, hidden}, batched), {}};
    if (kind.has_cell) state.c = initial(node, 6, d, {batch, hidden}, batched);
    auto [list, end] = walk(kind, cell, x, state, lengths, d == 1 || text == "reverse");
    outputs.push_back(std::move(list));
    last_h.push_back(end.h.unsqueeze(batched ? 1 : 0));
    if (end.c) last_c.push_back(end.c->unsqueeze(batched ? 1 : 0));
  }
  if (node.wants_output(0)) {
    std::vector<Term> whole;
    for (const auto& list : outputs) {
      std::vector<Term> rows;
      for (const auto& row : list) rows.push_back(row.reshape({1, 1, batch, hidden}));
      whole.push_back(concat(rows, 0));
    }
    const auto y = concat(whole, 1).reshape({steps, directions, batch, hidden});
    node.set((batched ? y.transpose({2, 0, 1, 3}) : y).operand(), 0);
  }
  const std::uint32_t axis = batched ? 1 : 0;
  if (node.wants_output(1)) node.set(concat(last_h, axis).operand(), 1);
  if (kind.has_cell && node.wants_output(2)) node.set(concat(last_c, axis).operand(), 2);
}

void rnn(Node& node) { recur(node, {rnn_step, 1, {"Tanh"}, false}); }
void gru(Node& node) { recur(node, {gru_step, 3, {"Sigmoid", "Tanh"}, false}); }
void lstm(Node& node) { recur(node, {lstm_step, 4, {"Sigmoid", "Tanh", "Tanh"}, true}); }

}  // namespace

std::span<const Row> recurrent_rows() noexcept {
  static constexpr std::array rows{
      Row{"GRU", gru},
      Row{"LSTM", lstm},
      Row{"RNN", rnn},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
