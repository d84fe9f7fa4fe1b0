// The slots of tensors and graphs, which operations carry instead of bytes.
//
// The context actor makes a slot, and operations carry it. Only lanes touch its contents, one
// operation at a time in timeline order; that order makes it safe without a lock. The last
// reference frees the memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/conditions.hpp"
#include "messages/duration_class.hpp"
#include "messages/graph.hpp"
#include "messages/memory.hpp"
#include "messages/shared/invalidity.hpp"
#include "messages/tensor.hpp"
#include "polychron/error.hpp"
#include "polychron/graph.hpp"

namespace polychron::msg {

/// A tensor on the device timeline.
///
/// The error tag is here, not in messages between lanes. Otherwise a lane would have to wake
/// another one to ask about a tensor that was finished long ago.
struct TensorSlot {
  TensorId id = 0;
  std::string label;
  std::size_t bytes = 0;
  std::optional<Memory> memory;  ///< none before allocate, after release, and while on lease
  PayloadRef constant;           ///< a constant tensor's bytes, else null
  std::optional<Error> tag;      ///< the error that a read reports
  bool revoked = false;          ///< its memory went with a revoked lease
  tensor_actor actor;            ///< cleared by release, which breaks the cycle

  std::string name() const { return describe_object("tensor", label, id); }
};
using TensorRef = std::shared_ptr<TensorSlot>;
/// In the order of a graph's inputs or outputs.
using Tensors = boost::container::small_vector<TensorRef, 4>;

/// A compiled graph on the device timeline.
struct GraphSlot {
  GraphId id = 0;
  std::string label;
  NamedDescriptors inputs, outputs;
  std::shared_ptr<const kernels::Plan> plan;
  ConstantsReservation constants;  ///< the plan's share of the budget
  Invalidity invalid;

  /// A lane's instance, made by the first dispatch that the lane runs.
  struct Instance {
    std::unique_ptr<kernels::PlanInstance> plan;
    Reservation arena;                                ///< of its own
    bool shares_arena = false;                        ///< has the lane's instead
    DurationClass duration = DurationClass::unknown;  ///< as its last two timed runs tell it
    Clock::duration took = Clock::duration::max();    ///< the last of them
    bool busy = false;                                ///< submitted to the device, and not finished
  };
  std::vector<Instance> instances;  ///< one for each lane, which opens only its own
  graph_actor actor;                ///< cleared by release, which breaks the cycle

  std::string name() const { return describe_object("graph", label, id); }
};
using GraphRef = std::shared_ptr<GraphSlot>;

}  // namespace polychron::msg
