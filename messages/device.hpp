// The device protocol: operations with their place on a lane. Never leaves the process.
//
// Every turn of a lane reaches its device actor exactly once, in one of these messages; the device
// carries them out in order of their turns, whatever order they arrive in.
#pragma once

#include <type_traits>
#include <variant>
#include <vector>

#include "messages/slot.hpp"
#include "messages/survey.hpp"

namespace polychron::msg {

// -- operations: each takes its turn --------------------------------------------------------------

/// From a tensor: reserve and zero memory.
struct allocate {
  Stamp stamp;
  Local<TensorRef> tensor;
};
/// From the context: replace the contents, and clear the tensor's error.
struct write_bytes {
  Stamp stamp;
  Local<TensorRef> tensor;
  Local<PayloadRef> payload;
  std::string label;
};
/// From a tensor: answer `read_done` with a copy of the contents.
struct read_bytes {
  Stamp stamp;
  Local<TensorRef> tensor;
  Local<ReadRef> loan;
};
/// From a tensor: answer `query_done` with its error, if it has one.
struct query_tag {
  Stamp stamp;
  Local<TensorRef> tensor;
};
/// From a tensor: grant the lease and answer `lent`; this operation is under way until the lease
/// ends.
struct lend_memory {
  Stamp stamp;
  Local<TensorRef> tensor;
  Local<LeaseRef> lease;
};
/// From a tensor: free its memory.
struct release {
  Stamp stamp;
  Local<TensorRef> tensor;
};
/// From the context, once a graph is compiled: account for its plan; answer `loaded`.
struct load {
  Stamp stamp;
  Local<GraphRef> graph;
};
/// From the context: run the graph, unless it is invalid or an input is errored.
struct execute {
  Stamp stamp;
  Local<GraphRef> graph;
  Local<Tensors> inputs;
  Local<Tensors> outputs;
  std::string label;
  Local<Conditions> conditions;
};
/// From a graph: run it on the batch's buffers; answer `batch_done`.
struct execute_batch {
  Stamp stamp;
  Local<GraphRef> graph;
  Local<BatchRef> batch;
  std::string label;
  Local<Conditions> conditions;
};
/// From the context: the operation was refused; its outputs carry the error.
struct fail {
  Stamp stamp;
  Local<Tensors> outputs;
  Local<std::shared_ptr<const Error>> error;
};
/// From a graph: free its plan.
struct release_plan {
  Stamp stamp;
  Local<GraphRef> graph;
};
/// From the context: answer `fence_passed` when everything before it on this lane is done.
struct fence {
  Stamp stamp;
  std::uint64_t id = 0;
};

/// Of one of these, its index is its kind.
using Operation = std::variant<allocate, write_bytes, read_bytes, query_tag, lend_memory, release,
                               load, execute, execute_batch, fail, release_plan, fence>;

/// What each kind is called, for people.
inline constexpr const char* operation_names[] = {"create_tensor",
                                                  "write",
                                                  "read",
                                                  "error",
                                                  "export",
                                                  "release",
                                                  "build",
                                                  "dispatch",
                                                  "compute",
                                                  "failed operation",
                                                  "release of a graph",
                                                  "fence"};
static_assert(std::size(operation_names) == std::variant_size_v<Operation>);

template <class M>
inline constexpr std::size_t operation_kind = [] {
  return []<class... Ms>(std::type_identity<std::variant<Ms...>>) {
    std::size_t kind = 0;
    static_cast<void>(((std::is_same_v<M, Ms> || (++kind, false)) || ...));
    return kind;
  }(std::type_identity<Operation>{});
}();

// -- the rest: taken as they come -----------------------------------------------------------------

/// From another lane: tell it `reached` when this lane's `turn` is done.
struct await_turn {
  Ticket turn = 0;
  std::uint32_t lane = 0;
};
/// From another lane: `turn` of it is done.
struct reached {
  std::uint32_t lane = 0;
  Ticket turn = 0;
};
/// From the context or a tensor: the lease granted at `turn` has ended.
struct end_lease {
  Ticket turn = 0;
};
/// From the context: add what waits here to the survey.
struct survey_lane {
  Local<std::shared_ptr<Survey>> survey;
};
/// From the context, before anything else: the lanes of the context, this one among them.
struct meet;

}  // namespace polychron::msg

namespace polychron {
using device_actor = caf::typed_actor<
    caf::reacts_to<msg::allocate>, caf::reacts_to<msg::write_bytes>,
    caf::reacts_to<msg::read_bytes>, caf::reacts_to<msg::query_tag>,
    caf::reacts_to<msg::lend_memory>, caf::reacts_to<msg::release>, caf::reacts_to<msg::load>,
    caf::reacts_to<msg::execute>, caf::reacts_to<msg::execute_batch>, caf::reacts_to<msg::fail>,
    caf::reacts_to<msg::release_plan>, caf::reacts_to<msg::fence>, caf::reacts_to<msg::await_turn>,
    caf::reacts_to<msg::reached>, caf::reacts_to<msg::end_lease>, caf::reacts_to<msg::survey_lane>,
    caf::reacts_to<msg::meet>>;
}

namespace polychron::msg {
struct meet {
  Local<std::vector<device_actor>> lanes;
};
}  // namespace polychron::msg
