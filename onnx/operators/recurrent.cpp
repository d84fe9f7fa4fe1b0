// RNN, GRU and LSTM: as WebNN's networks where possible, otherwise unrolled (recurrent_steps.cpp).
//
// Dimensions: X [steps, batch, input], W [directions, gates x hidden, input], R the same
// with hidden, B [directions, 2 x gates x hidden]. With layout 1 the batch comes first.
#include "onnx/operators/recurrent.hpp"

#include <algorithm>
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"

namespace polychron::onnx::detail {

std::vector<std::string> Recurrence::functions() const {
  auto given = node.text_list("activations");
  if (given.empty()) given = kind.functions;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < directions() * kind.functions.size(); ++i)
    names.push_back(given[i % given.size()]);
  return names;
}

namespace {

using Activations = std::vector<RecurrentNetworkActivation>;

/// WebNN's activations for all functions of a network, which its directions must share; nullopt if
/// WebNN lacks one of them.
std::optional<Activations> shared_activations(const Recurrence& network) {
  const auto names = network.functions();
  const auto each = network.kind.functions.size();
  Activations list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& name = names[i];
    if (name != names[i % each]) return std::nullopt;
    if (name != "Sigmoid" && name != "Tanh" && name != "Relu") return std::nullopt;
    if (i < each)
      list.push_back(name == "Sigmoid" ? RecurrentNetworkActivation::sigmoid
                     : name == "Tanh"  ? RecurrentNetworkActivation::tanh
                                       : RecurrentNetworkActivation::relu);
  }
  return list;
}

/// True if one of WebNN's networks does the same, apart from lengths. WebNN has no clipping and no
/// coupled gates, and its output gate uses the cell state before the step.
bool is_webnns(const Recurrence& network) {
  const auto& node = network.node;
  return network.kind.gates != 1 && !node.has_attribute("clip") && !node.has_input(7) &&
         node.integer("input_forget", 0) == 0;
}

/// WebNN's network, which goes through all steps.
States whole(const Recurrence& network, const Activations& activations, bool sequence) {
  auto& node = network.node;
  const auto operand = [](const std::optional<Term>& term) {
    return term ? std::optional(term->operand()) : std::nullopt;
  };
  const auto direction = network.direction == "bidirectional" ? RecurrentNetworkDirection::both
                         : network.direction == "reverse"     ? RecurrentNetworkDirection::backward
                                                              : RecurrentNetworkDirection::forward;
  std::optional<Operand> bias, recurrent_bias;
  if (network.bias) {
    const auto size = network.kind.gates * network.units();
    bias = network.bias->slice(1, 0, size).operand();
    recurrent_bias = network.bias->slice(1, size, 2 * size).operand();
  }
  const auto& x = network.x;
  std::vector<Operand> results;
  if (network.kind.has_cell) {
    results = node.builder.lstm(x.operand(), network.w.operand(), network.r.operand(),
                                {.steps = network.steps(),
                                 .hidden_size = network.units(),
                                 .return_sequence = sequence,
                                 .direction = direction,
                                 .activations = activations},
                                {.bias = bias,
                                 .recurrent_bias = recurrent_bias,
                                 .initial_hidden_state = operand(network.hidden),
                                 .initial_cell_state = operand(network.cell)},
                                node.label());
  } else {
    results = node.builder.gru(x.operand(), network.w.operand(), network.r.operand(),
                               {.steps = network.steps(),
                                .hidden_size = network.units(),
                                .reset_after = node.integer("linear_before_reset", 0) != 0,
                                .return_sequence = sequence,
                                .direction = direction,
                                .activations = activations},
                               {.bias = bias,
                                .recurrent_bias = recurrent_bias,
                                .initial_hidden_state = operand(network.hidden)},
                               node.label());
  }
  States states{x.with(results[0]), {}, {}};
  if (network.kind.has_cell) states.cell = x.with(results[1]);
  if (sequence) states.sequence = x.with(results.back());
  return states;
}

/// One direction of a network, as a network that runs forwards.
Recurrence direction_of(const Recurrence& network, std::uint32_t d) {
  const auto part = [&](const Term& term) { return term.slice(0, d, d + 1); };
  const auto optional_part = [&](const std::optional<Term>& term) {
    return term ? std::optional(part(*term)) : std::nullopt;
  };
  return {network.node,
          network.kind,
          network.x,
          part(network.w),
          part(network.r),
          optional_part(network.bias),
          network.lengths,
          optional_part(network.hidden),
          optional_part(network.cell)};
}

/// Makes an LSTM's cell keep its state in the steps that are not `inside`. There one more input is
/// 1, whose weights close the input gate and open the forget gate. The others are 0.
void hold_cell(Recurrence& network, const Term& inside) {
  const auto& x = network.x;
  network.x = concat({inside.choose(x, x.number(0)), (inside == 0).cast(x.data_type())}, 2);
  const double far = x.data_type() == DataType::float16 ? 0x1p15 : 0x1p100;
  std::vector<double> weights;  // of the gates i, o, f, c
  for (const double gate : {-far, 0.0, far, 0.0})
    weights.insert(weights.end(), network.units(), gate);
  const Shape shape{1, 4 * network.units(), 1};
  network.w =
      concat({network.w, constant(network.node, element_type(x.data_type()), shape, weights)}, 2);
}

/// WebNN knows no lengths: each direction goes through all steps. Its sequences come before what
/// lies beyond their lengths, and so do not depend on it. Backwards they are turned round within
/// their lengths before and afterwards.
States with_lengths(const Recurrence& network, const Activations& activations) {
  auto& node = network.node;
  const auto steps = network.steps(), batch = network.batch(), units = network.units();
  const auto lengths = network.lengths->reshape({1, batch, 1});
  const auto step = iota(node, DataType::int32, 3, 0, steps);
  const auto inside = step < lengths;
  const auto rows_at = [&](const Term& steps_of_batch) {
    const auto rows =
        steps_of_batch * static_cast<double>(batch) + iota(node, DataType::int32, 3, 1, batch);
    return rows.reshape({static_cast<std::uint32_t>(count(rows.shape()))});
  };
  const auto turned = rows_at(inside.choose(lengths - 1 - step, step));
  const auto last = rows_at((lengths - 1).max(0));
  const auto rows_of = [&](const Term& x, const Term& rows) {
    const auto width = x.shape().back();
    return x.reshape({steps * batch, width}).gather(rows, 0);
  };
  std::vector<Term> hidden, cell, sequence;
  for (std::uint32_t d = 0; d < network.directions(); ++d) {
    auto one = direction_of(network, d);
    const bool turn = network.runs_backwards(d);
    if (turn) one.x = rows_of(one.x, turned).reshape(one.x.shape());
    if (node.wants_output(2)) hold_cell(one, inside);
    const auto states = whole(one, activations, true);
    const auto rows = states.sequence->reshape({steps * batch, units});
    hidden.push_back(rows.gather(last, 0).unsqueeze(0));
    if (states.cell) cell.push_back(*states.cell);
    sequence.push_back((turn ? rows.gather(turned, 0) : rows).reshape({steps, 1, batch, units}));
  }
  States all{concat(hidden, 0), {}, concat(sequence, 1)};
  if (!cell.empty()) all.cell = concat(cell, 0);
  return all;
}

States run(const Recurrence& network) {
  const auto& node = network.node;
  const auto activations = is_webnns(network) ? shared_activations(network) : std::nullopt;
  if (!activations) return unrolled(network);
  if (!network.lengths) return whole(network, *activations, node.wants_output(0));
  // To hold a cell takes gates that are 0 and 1 far from 0.
  const bool holds = activations->front() == RecurrentNetworkActivation::sigmoid;
  if (node.wants_output(2) && !holds) return unrolled(network);
  return with_lengths(network, *activations);
}

// -- nodes ----------------------------------------------------------------------------------------

/// Sequences' lengths; none if all are known to be `steps`.
std::optional<Term> read_lengths(Node& node, std::uint32_t steps) {
  if (!node.has_input(4)) return std::nullopt;
  if (const auto* known = node.calculable_literal(4))
    if (std::ranges::all_of(integers(*known), [&](auto length) { return length == steps; }))
      return std::nullopt;
  return term(node, 4).cast(DataType::int32);
}

Recurrence read(Node& node, const Kind& kind, const Term& w, const Term& r, bool batched) {
  const auto time_first = [&](const Term& x) { return batched ? x.transpose({1, 0, 2}) : x; };
  if (node.rank(0) != 3 || w.rank() != 3 || r.rank() != 3) malformed("ranks of 3 are expected");
  const auto x = time_first(term(node, 0));
  Recurrence network{node, kind, x, w, r, {}, read_lengths(node, x.shape()[0]), {}, {}};
  network.direction = node.text("direction", "forward");
  const auto units = network.units(), directions = network.directions();
  if ((network.direction == "bidirectional" ? 2U : 1U) != directions ||
      w.shape()[1] != kind.gates * units)
    malformed("weights of shape " + to_string(w.shape()) + " for direction " +
              quote(network.direction));
  if (node.has_input(3)) network.bias = term(node, 3);
  const auto state = [&](std::size_t i) -> std::optional<Term> {
    if (!node.has_input(i)) return std::nullopt;
    const auto batch = network.batch();
    const Shape shape = batched ? Shape{batch, directions, units} : Shape{directions, batch, units};
    if (node.shape(i) != shape)
      malformed("input " + std::to_string(i) + " of shape " + to_string(node.shape(i)) +
                ", expected " + to_string(shape));
    return time_first(term(node, i));
  };
  network.hidden = state(5);
  if (kind.has_cell) network.cell = state(6);
  return network;
}

/// Sets the outputs. Beyond a sequence's length they are 0. The states of a sequence without steps
/// are 0 too, which ONNX leaves open, as in ONNX Runtime.
void recur(Node& node, const Kind& kind, const Term& w, const Term& r) {
  const bool batched = node.integer("layout", 0) != 0;
  const auto network = read(node, kind, w, r, batched);
  const auto states = run(network);
  const auto known = [&](const Term& x, const Term& kept) { return kept.choose(x, x.number(0)); };
  const auto batch = network.batch();
  const auto set_state = [&](Term state, std::size_t i) {
    if (network.lengths) state = known(state, network.lengths->reshape({1, batch, 1}) > 0);
    node.set((batched ? state.transpose({1, 0, 2}) : state).operand(), i);
  };
  if (node.wants_output(0)) {
    auto y = *states.sequence;
    if (network.lengths)
      y = known(y, iota(node, DataType::int32, 4, 0, network.steps()) <
                       network.lengths->reshape({1, 1, batch, 1}));
    node.set((batched ? y.transpose({2, 0, 1, 3}) : y).operand(), 0);
  }
  if (node.wants_output(1)) set_state(states.hidden, 1);
  if (node.wants_output(2) && states.cell) set_state(*states.cell, 2);
}

Kind lstm_kind() { return {4, {"Sigmoid", "Tanh", "Tanh"}, true}; }

void recur(Node& node, const Kind& kind) { recur(node, kind, term(node, 1), term(node, 2)); }
void rnn(Node& node) { recur(node, {1, {"Tanh"}, false}); }
void gru(Node& node) { recur(node, {3, {"Sigmoid", "Tanh"}, false}); }
void lstm(Node& node) { recur(node, lstm_kind()); }

/// Weights in steps, [directions, columns, gates x hidden], as LSTM has its weights. The scales and
/// zero points are those of a direction, or of each of its rows.
Term weights_of_steps(Node& node, std::size_t input, std::size_t scale) {
  const auto steps = term(node, input);
  const auto shaped = [&](const Term& x) {
    if (x.rank() < 1 || x.rank() > 2)
      malformed("scales or zero points of shape " + to_string(x.shape()));
    return x.reshape({x.shape()[0], 1, x.rank() == 1 ? 1 : x.shape()[1]});
  };
  const auto scales = shaped(term(node, scale));
  const auto zeros = shaped(term(node, scale + 1)).expand(scales.shape());
  if (steps.rank() != 3) malformed("ranks of 3 are expected");
  return steps
      .with(node.builder.dequantize_linear(steps.operand(), scales.operand(), zeros.operand(),
                                           node.label()))
      .transpose({0, 2, 1});
}

/// An LSTM's inputs, then scale and zero point of W, and of R. X and the states stay floats, which
/// ONNX Runtime rounds to 8 bits in each step.
void dynamic_quantize_lstm(Node& node) {
  recur(node, lstm_kind(), weights_of_steps(node, 1, 8), weights_of_steps(node, 2, 10));
}

}  // namespace

std::span<const Row> recurrent_rows() noexcept {
  static constexpr std::array rows{
      Row{"GRU", gru},
      Row{"LSTM", lstm},
      Row{"RNN", rnn},
      Row{"com.microsoft:DynamicQuantizeLSTM", dynamic_quantize_lstm},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
