// The context protocol: the calls of MLContext, in the order in which they are made.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>

#include "kernels/backend.hpp"
#include "messages/compiler.hpp"
#include "messages/tensor.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::msg {

using TensorIds = boost::container::small_vector<TensorId, 4>;

// -- from callers
// --------------------------------------------------------------------------------------

/// A new tensor called `tensor`, with these bytes or zeros. `reply` settles when its memory is
/// there.
struct create_tensor {
  TensorId tensor = 0;
  std::string label;
  std::uint64_t bytes = 0;
  Local<Bytes> initial;
  Local<Promise<void>> reply;
};
struct write_tensor {
  TensorId tensor = 0;
  Local<Bytes> bytes;
  std::string label;
};
struct read_tensor {
  TensorId tensor = 0;
  Local<Promise<Buffer>> reply;
};
/// The tensors are in the order of the graph's inputs and outputs.
struct dispatch {
  GraphId graph = 0;
  Local<TensorIds> inputs;
  Local<TensorIds> outputs;
  std::string label;
};
/// Compile `description` and make it known as `graph`.
struct build {
  GraphId graph = 0;
  Local<std::shared_ptr<const ops::Graph>> description;
  Local<Promise<Built>> reply;
};
struct drop_tensor {
  TensorId tensor = 0;
};
struct drop_graph {
  GraphId graph = 0;
};
/// Destroy the context: everything pending is rejected, everything is freed.
struct destroy_context {};

// -- from the compiler
// ---------------------------------------------------------------------------------

/// The plan for `graph`, or why there is none.
struct compiled {
  GraphId graph = 0;
  Local<std::shared_ptr<const ops::Graph>> description;
  Local<Promise<Built>> reply;
  Local<std::shared_ptr<Result<std::shared_ptr<kernels::Plan>>>> plan;
};

}  // namespace polychron::msg

namespace polychron {
using context_actor =
    caf::typed_actor<caf::reacts_to<msg::create_tensor>, caf::reacts_to<msg::write_tensor>,
                     caf::reacts_to<msg::read_tensor>, caf::reacts_to<msg::dispatch>,
                     caf::reacts_to<msg::build>, caf::reacts_to<msg::drop_tensor>,
                     caf::reacts_to<msg::drop_graph>, caf::reacts_to<msg::destroy_context>,
                     caf::reacts_to<msg::compiled>>;
}  // namespace polychron
