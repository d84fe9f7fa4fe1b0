// One view of all recurrent operators (gru, gruCell, lstm and lstmCell), for the kernels that
// compute them. A cell is a sequence of one step.
#pragma once

#include <array>
#include <cstddef>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// The extents, operands and options of a recurrent operator. Gates are named in the order of an
/// LSTM with layout "ifgo", or of a GRU with layout "zrn".
struct Recurrence {
  using Activation = RecurrentNetworkActivation;
  static constexpr std::size_t absent = ~std::size_t{0};
  enum LstmGate : std::size_t { input_gate, forget_gate, cell_gate, output_gate };
  enum GruGate : std::size_t { update_gate, reset_gate, new_gate };

  explicit Recurrence(const Problem& problem);

  bool is_lstm = false;
  bool reset_after = true;
  bool sequence = false;  ///< true: the last result has every hidden state
  std::size_t directions = 1, steps = 1, batch = 0, input = 0, hidden = 0;
  std::size_t gates = 0;            ///< 4 for an LSTM, otherwise 3
  std::array<std::size_t, 4> at{};  ///< the position of each gate in weights and biases
  std::array<Activation, 3> activations{};
  /// Numbers of the optional operands; `absent` for a missing one.
  std::size_t bias = absent, recurrent_bias = absent, peephole = absent;
  std::size_t hidden_state = absent, cell_state = absent;

  /// The step of the input that comes `turn`-th in a direction.
  std::size_t step(std::size_t direction, std::size_t turn) const {
    return backward_[direction] ? steps - 1 - turn : turn;
  }
  bool backward(std::size_t direction) const { return backward_[direction]; }
  std::size_t states() const { return batch * hidden; }
  std::size_t gate_rows() const { return gates * hidden; }
  bool usual_activations() const {
    return activations == std::array{Activation::sigmoid, Activation::tanh, Activation::tanh};
  }
  /// True if plain loops are faster than a call to a library for each step. A call costs 0.3 us or
  /// more, a multiplication in double precision 1 ns.
  bool is_small() const {
    return steps * batch * gate_rows() * (input + hidden) <= 300 * (steps + 1);
  }
  /// Where the peephole weights of a gate begin. Their order is input, output, forget.
  std::size_t peephole_at(std::size_t gate) const {
    return hidden * (gate == input_gate ? 0 : gate == output_gate ? 1 : 2);
  }
  /// Where a step's states begin in the sequence.
  std::size_t sequence_at(std::size_t step, std::size_t direction) const {
    return (step * directions + direction) * states();
  }

 private:
  std::array<bool, 2> backward_{};
};

}  // namespace polychron::kernels
