// gru, gruCell, lstm and lstmCell, as the specification decomposes them: gate by gate and step by
// step. States stay in double precision from step to step.
#include <algorithm>
#include <cmath>

#include "kernels/recurrence.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

double activate(RecurrentNetworkActivation activation, double x) {
  switch (activation) {
    case RecurrentNetworkActivation::relu:
      return x < 0 ? 0 : x;
    case RecurrentNetworkActivation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case RecurrentNetworkActivation::tanh:
      break;
  }
  return std::tanh(x);
}

/// One direction of a network with elements of type T.
template <class T>
struct Direction {
  const Call& call;
  const Recurrence& r;
  std::size_t direction;
  double *hidden, *cell;    ///< states of the whole batch
  double *next, *reset;     ///< of one sequence: next state; a GRU's reset state
  double *from_x, *from_h;  ///< by gate and unit

  const T* operand(std::size_t index, std::size_t size) const {
    return call.in<T>(index) + direction * size;
  }
  double bias(std::size_t operand_index, std::size_t row) const {
    return operand_index == Recurrence::absent ? 0
                                               : widen(operand(operand_index, r.gate_rows())[row]);
  }
  double from_input(std::size_t row, const T* x) const {
    const T* weight = operand(1, r.gate_rows() * r.input) + row * r.input;
    double sum = bias(r.bias, row);
    for (std::size_t k = 0; k < r.input; ++k) sum += widen(weight[k]) * widen(x[k]);
    return sum;
  }
  double from_state(std::size_t row, const double* state) const {
    const T* weight = operand(2, r.gate_rows() * r.hidden) + row * r.hidden;
    double sum = bias(r.recurrent_bias, row);
    for (std::size_t k = 0; k < r.hidden; ++k) sum += widen(weight[k]) * state[k];
    return sum;
  }
  /// The sum of a gate for unit `j`.
  double both(std::size_t gate, std::size_t j) const {
    const std::size_t row = r.at[gate] * r.hidden + j;
    return from_x[row] + from_h[row];
  }

  void gru_step(double* h) const {
    const auto [gate, fresh, unused] = r.activations;
    for (std::size_t j = 0; j < r.hidden; ++j)
      reset[j] = activate(gate, both(Recurrence::reset_gate, j));
    const std::size_t rows = r.at[Recurrence::new_gate] * r.hidden;
    if (!r.reset_after) {
      for (std::size_t j = 0; j < r.hidden; ++j) next[j] = reset[j] * h[j];
      for (std::size_t j = 0; j < r.hidden; ++j) from_h[rows + j] = from_state(rows + j, next);
    }
    for (std::size_t j = 0; j < r.hidden; ++j) {
      const double z = activate(gate, both(Recurrence::update_gate, j));
      const double recurrent = from_h[rows + j] * (r.reset_after ? reset[j] : 1);
      const double n = activate(fresh, from_x[rows + j] + recurrent);
      next[j] = z * h[j] + (1 - z) * n;
    }
    std::copy_n(next, r.hidden, h);
  }

  void lstm_step(double* h, double* c) const {
    const auto [gate, fresh, filter] = r.activations;
    const auto peephole = [&](std::size_t g, std::size_t j) {
      if (r.peephole == Recurrence::absent) return 0.0;
      return widen(operand(r.peephole, 3 * r.hidden)[r.peephole_at(g) + j]) * c[j];
    };
    const auto open = [&, gate = gate](std::size_t g, std::size_t j) {
      return activate(gate, both(g, j) + peephole(g, j));
    };
    for (std::size_t j = 0; j < r.hidden; ++j) {
      const double i = open(Recurrence::input_gate, j), f = open(Recurrence::forget_gate, j);
      const double o = open(Recurrence::output_gate, j);
      c[j] = f * c[j] + i * activate(fresh, both(Recurrence::cell_gate, j));
      h[j] = o * activate(filter, c[j]);
    }
  }

  void load(double* state, std::size_t index) const {
    std::fill_n(state, r.states(), 0.0);
    if (index == Recurrence::absent) return;
    const T* given = operand(index, r.states());
    for (std::size_t i = 0; i < r.states(); ++i) state[i] = widen(given[i]);
  }
  void store(const double* state, T* out) const {
    for (std::size_t i = 0; i < r.states(); ++i) out[i] = narrow<T>(state[i]);
  }

  void run() const {
    load(hidden, r.hidden_state);
    if (r.is_lstm) load(cell, r.cell_state);
    for (std::size_t turn = 0; turn < r.steps; ++turn) {
      const std::size_t step = r.step(direction, turn);
      for (std::size_t n = 0; n < r.batch; ++n) {
        const T* x = call.in<T>(0) + (step * r.batch + n) * r.input;
        double* h = hidden + n * r.hidden;
        for (std::size_t row = 0; row < r.gate_rows(); ++row) {
          from_x[row] = from_input(row, x);
          from_h[row] = from_state(row, h);
        }
        if (r.is_lstm)
          lstm_step(h, cell + n * r.hidden);
        else
          gru_step(h);
      }
      if (r.sequence)
        store(hidden, call.out<T>(r.is_lstm ? 2 : 1) + r.sequence_at(step, direction));
    }
    store(hidden, call.out<T>(0) + direction * r.states());
    if (r.is_lstm) store(cell, call.out<T>(1) + direction * r.states());
  }
};

std::size_t scratch(const Problem& problem) {
  const Recurrence r(problem);
  return (2 * r.states() + 2 * r.hidden + 2 * r.gate_rows()) * sizeof(double);
}

void recurrent(const Call& call) {
  const Recurrence r(call.problem);
  auto* hidden = reinterpret_cast<double*>(call.scratch);
  double* cell = hidden + r.states();
  double* next = cell + r.states();
  double* reset = next + r.hidden;
  double* from_x = reset + r.hidden;
  double* from_h = from_x + r.gate_rows();
  with_float(call.in_type(), [&]<class T>(T) {
    for (std::size_t direction = 0; direction < r.directions; ++direction)
      Direction<T>{call, r, direction, hidden, cell, next, reset, from_x, from_h}.run();
  });
}

}  // namespace

std::span<const Entry> recurrent_entries() noexcept {
  static constexpr Entry entries[] = {{op("gru"), recurrent, scratch},
                                      {op("gruCell"), recurrent, scratch},
                                      {op("lstm"), recurrent, scratch},
                                      {op("lstmCell"), recurrent, scratch}};
  return entries;
}

}  // namespace polychron::kernels::reference
