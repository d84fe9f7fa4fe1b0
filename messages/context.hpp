// The context protocol: the calls of MLContext, in the order in which they are made.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>

#include "kernels/backend.hpp"
#include "messages/compiler.hpp"
#include "messages/conditions.hpp"
#include "messages/graph.hpp"
#include "messages/survey.hpp"
#include "messages/tensor.hpp"
#include "polychron/context.hpp"
#include "polychron/descriptor.hpp"

namespace polychron::msg {

using TensorIds = boost::container::small_vector<TensorId, 4>;

// -- from callers ---------------------------------------------------------------------------------

/// A new tensor called `tensor`, of zeros. `reply` settles when its memory is there.
struct create_tensor {
  TensorId tensor = 0;
  std::string label;
  std::uint64_t bytes = 0;
  Local<Promise<void>> reply;
};
struct write_tensor {
  TensorId tensor = 0;
  Local<PayloadRef> payload;
  std::string label;
};
struct read_tensor {
  TensorId tensor = 0;
  Local<ReadRef> loan;
};
struct query_tensor {
  TensorId tensor = 0;
  Local<Promise<std::optional<Error>>> reply;
};
struct lend_tensor {
  TensorId tensor = 0;
  Local<LeaseRef> lease;
  Local<Promise<void>> reply;
};
/// From a lease's holder.
struct return_lease {
  TensorId tensor = 0;
  Local<LeaseRef> lease;
};
/// The tensors are in the order of the graph's inputs and outputs.
struct dispatch {
  GraphId graph = 0;
  Local<TensorIds> inputs;
  Local<TensorIds> outputs;
  std::string label;
  Local<Conditions> conditions;
};
/// Run a graph on buffers instead of tensors.
struct compute {
  GraphId graph = 0;
  Local<BatchRef> batch;
  std::string label;
  Local<Conditions> conditions;
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
/// A caller's mistake that was thrown already: error scopes see it too.
struct report {
  Local<Error> error{Error(ErrorKind::internal, "")};
};
struct push_scope {
  ErrorFilter filter = ErrorFilter::validation;
};
/// `reply` gets the first error of the innermost scope, once all operations called in it are done.
struct pop_scope {
  Local<Promise<std::optional<Error>>> reply;
};
/// Called, on a thread of the library, for errors that no scope takes.
struct set_handler {
  Local<std::function<void(const Error&)>> handler;
};
struct ask_pending {
  Local<Promise<std::vector<PendingOperation>>> reply;
};
/// Destroy the context: everything pending is rejected, everything is freed.
struct destroy_context {};

// -- from the compiler ----------------------------------------------------------------------------

/// The plan for `graph`, or why there is none.
struct compiled {
  GraphId graph = 0;
  Local<std::shared_ptr<const ops::Graph>> description;
  Local<Promise<Built>> reply;
  Local<std::shared_ptr<Result<std::shared_ptr<kernels::Plan>>>> plan;
};

// -- from the device ------------------------------------------------------------------------------

/// The operation of `ticket` failed, or was refused for a reason of its own.
struct operation_failed {
  Ticket ticket = 0;
  Local<std::shared_ptr<const Error>> error;
};
/// One lane has done everything before the fence.
struct fence_passed {
  std::uint64_t id = 0;
};

// -- from tensors and graphs ----------------------------------------------------------------------

/// A destroyed tensor has given its memory back; its actor ends.
struct tensor_gone {
  TensorId tensor = 0;
};
/// A destroyed graph has given its plan back; its actor ends.
struct graph_gone {
  GraphId graph = 0;
};
/// A handler of an actor of this context threw, which none may: the actor ends, and the context
/// with it.
struct actor_failed {
  std::string actor;
  std::string what;
};

}  // namespace polychron::msg

namespace polychron {
using context_actor =
    caf::typed_actor<caf::reacts_to<msg::create_tensor>, caf::reacts_to<msg::write_tensor>,
                     caf::reacts_to<msg::read_tensor>, caf::reacts_to<msg::query_tensor>,
                     caf::reacts_to<msg::lend_tensor>, caf::reacts_to<msg::return_lease>,
                     caf::reacts_to<msg::dispatch>, caf::reacts_to<msg::compute>,
                     caf::reacts_to<msg::build>, caf::reacts_to<msg::drop_tensor>,
                     caf::reacts_to<msg::drop_graph>, caf::reacts_to<msg::report>,
                     caf::reacts_to<msg::push_scope>, caf::reacts_to<msg::pop_scope>,
                     caf::reacts_to<msg::set_handler>, caf::reacts_to<msg::ask_pending>,
                     caf::reacts_to<msg::destroy_context>, caf::reacts_to<msg::compiled>,
                     caf::reacts_to<msg::operation_failed>, caf::reacts_to<msg::fence_passed>,
                     caf::reacts_to<msg::tensor_gone>, caf::reacts_to<msg::graph_gone>,
                     caf::reacts_to<msg::actor_failed>>;
}  // namespace polychron
