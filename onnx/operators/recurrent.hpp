// RNN, GRU and LSTM: what their forms have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// The properties of an operator.
struct Kind {
  std::uint32_t gates;
  std::vector<std::string> functions;  ///< its activations for one direction, if none are named
  bool has_cell;
};

/// A node's operands, time first, whatever its layout.
struct Recurrence {
  Node& node;
  const Kind& kind;
  Term x;                             ///< [steps, batch, input]
  Term w, r;                          ///< [directions, gates x hidden, input]; [..., hidden]
  std::optional<Term> bias;           ///< [directions, 2 x gates x hidden]
  std::optional<Term> lengths;        ///< of the sequences, int32 [batch]; absent: all steps
  std::optional<Term> hidden, cell;   ///< initial states: [directions, batch, hidden]
  std::string direction = "forward";  ///< "reverse", "bidirectional"

  std::uint32_t steps() const { return x.shape()[0]; }
  std::uint32_t batch() const { return x.shape()[1]; }
  std::uint32_t units() const { return r.shape()[2]; }
  std::uint32_t directions() const { return w.shape()[0]; }
  bool runs_backwards(std::uint32_t d) const { return d == 1 || direction == "reverse"; }
  /// The activation functions of all directions, by name.
  std::vector<std::string> functions() const;
};

/// A network's results. Steps beyond a length have any values in the sequence. So have the
/// states of a sequence without steps.
struct States {
  Term hidden;                   ///< after a sequence's last step: [directions, batch, hidden]
  std::optional<Term> cell;      ///< the same of the cell; right if the node wants it
  std::optional<Term> sequence;  ///< hidden: [steps, directions, batch, hidden], if wanted
};

/// A few operators for each step: takes all that ONNX has.
States unrolled(const Recurrence& network);

}  // namespace polychron::onnx::detail
