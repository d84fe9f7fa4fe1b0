#include "kernels/recurrence.hpp"

#include "ops/table.hpp"

namespace polychron::kernels {

namespace {

using ops::op;

std::array<Recurrence::Activation, 3> activations_of(
    const std::optional<std::vector<Recurrence::Activation>>& given) {
  using enum RecurrentNetworkActivation;
  std::array all{sigmoid, tanh, tanh};
  for (std::size_t i = 0; given && i < given->size(); ++i) all[i] = (*given)[i];
  return all;
}

}  // namespace

Recurrence::Recurrence(const Problem& problem) {
  const Shape& x = problem.inputs[0].descriptor.shape;
  const bool cell = x.size() == 2;
  is_lstm = problem.op == op("lstm") || problem.op == op("lstmCell");
  gates = is_lstm ? 4 : 3;
  steps = cell ? 1 : x[0];
  batch = x[x.size() - 2];
  input = x.back();
  hidden = problem.inputs[2].descriptor.shape.back();
  const auto choose_gru = [&](const auto& given) {
    reset_after = given.reset_after;
    activations = activations_of(given.activations);
    at = given.layout == GruWeightLayout::zrn ? std::array<std::size_t, 4>{0, 1, 2}
                                              : std::array<std::size_t, 4>{1, 0, 2};
  };
  const auto choose_lstm = [&](const auto& given) {
    activations = activations_of(given.activations);
    at = given.layout == LstmWeightLayout::ifgo ? std::array<std::size_t, 4>{0, 1, 2, 3}
                                                : std::array<std::size_t, 4>{0, 2, 3, 1};
  };
  const auto run_through = [&](const auto& given) {
    sequence = given.return_sequence;
    const auto direction = given.direction;
    directions = direction == RecurrentNetworkDirection::both ? 2 : 1;
    backward_ = {direction == RecurrentNetworkDirection::backward, true};
  };
  const auto operand = [&](std::size_t index) {
    return index < problem.own_inputs && problem.inputs[index].present ? index : absent;
  };
  if (const auto* gru = std::get_if<GruAttributes>(&problem.attributes)) {
    choose_gru(*gru);
    run_through(*gru);
  } else if (const auto* gru_cell = std::get_if<GruCellAttributes>(&problem.attributes)) {
    choose_gru(*gru_cell);
  } else if (const auto* lstm = std::get_if<LstmAttributes>(&problem.attributes)) {
    choose_lstm(*lstm);
    run_through(*lstm);
  } else {
    choose_lstm(std::get<LstmCellAttributes>(problem.attributes));
  }
  // A cell's states precede its biases. A sequence's states are optional and come last.
  const std::size_t biases = !cell ? 3 : is_lstm ? 5 : 4;
  bias = operand(biases);
  recurrent_bias = operand(biases + 1);
  if (is_lstm) peephole = operand(biases + 2);
  const std::size_t state = cell ? 3 : is_lstm ? 6 : 5;
  hidden_state = operand(state);
  if (is_lstm) cell_state = operand(state + 1);
}

}  // namespace polychron::kernels
