// The graph protocol: what a graph actor may be told, by its context and by the device.
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <string>
#include <vector>

#include "messages/conditions.hpp"
#include "messages/ids.hpp"
#include "messages/inspect.hpp"
#include "messages/loan.hpp"
#include "polychron/buffer.hpp"
#include "polychron/future.hpp"
#include "polychron/result.hpp"

namespace polychron::msg {

struct TensorSlot;
/// The tensors of a dispatch, in the order of the graph's inputs or outputs. Most graphs have few:
/// they fit without an allocation.
using Tensors = boost::container::small_vector<std::shared_ptr<TensorSlot>, 4>;
inline std::string describe(const Tensors& tensors) {
  return std::to_string(tensors.size()) + " tensors";
}

/// The buffers of a compute() call, in the order of the graph's inputs and outputs, on their way
/// there and back.
struct BatchReply {
  std::vector<Buffer> inputs, outputs;
  std::optional<Error> error;
};
using Batch = Loan<BatchReply>;
using BatchRef = std::shared_ptr<Batch>;

// -- from the context -----------------------------------------------------------------------------

/// Run the graph's plan on these buffers, and give them back.
struct run_batch {
  Stamp stamp;
  Local<BatchRef> batch;
  std::string label;
  Local<Conditions> conditions;
};
/// Refuse new dispatches; give the plan back after all earlier operations.
struct destroy_graph {
  Stamp stamp;
};

// -- from the device ------------------------------------------------------------------------------

/// The plan is ready on the device, or could not be made so.
struct loaded {
  Local<Result<void>> result;
};
/// The batch of `ticket` has been run, or was refused.
struct batch_done {
  Ticket ticket = 0;
};
/// The plan is gone: nothing will mention this graph any more.
struct plan_released {};

}  // namespace polychron::msg

namespace polychron {
using graph_actor =
    caf::typed_actor<caf::reacts_to<msg::run_batch>, caf::reacts_to<msg::destroy_graph>,
                     caf::reacts_to<msg::loaded>, caf::reacts_to<msg::batch_done>,
                     caf::reacts_to<msg::plan_released>>;
}
