// The device protocol: operations with their place on the timeline. Never leaves the process.
//
// Every ticket of the context reaches the device exactly once, in one of these messages; the device
// carries them out in ticket order, whatever order they arrive in.
#pragma once

#include "messages/slot.hpp"

namespace polychron::msg {

/// From a tensor: reserve and zero memory, or take `initial` as it.
struct allocate {
  Ticket ticket = 0;
  Local<TensorRef> tensor;
  Local<Bytes> initial;
};
/// From a tensor: replace the contents, and clear its error.
struct write_bytes {
  Ticket ticket = 0;
  Local<TensorRef> tensor;
  Local<Bytes> bytes;
  std::string label;
};
/// From a tensor: answer `read_done` with a copy of the contents.
struct read_bytes {
  Ticket ticket = 0;
  Local<TensorRef> tensor;
};
/// From a tensor: free its memory.
struct release {
  Ticket ticket = 0;
  Local<TensorRef> tensor;
};
/// From the context, once a graph is compiled: make its plan ready to run; answer `loaded`.
struct load {
  Ticket ticket = 0;
  Local<GraphRef> graph;
};
/// From a graph: run it, unless an input is errored.
struct execute {
  Ticket ticket = 0;
  Local<GraphRef> graph;
  Local<Tensors> inputs;
  Local<Tensors> outputs;
  std::string label;
};
/// From a graph or the context: the dispatch was refused; its outputs carry the error.
struct fail {
  Ticket ticket = 0;
  Local<Tensors> outputs;
  Local<std::shared_ptr<const Error>> error;
};
/// From a graph: free its plan.
struct release_plan {
  Ticket ticket = 0;
  Local<GraphRef> graph;
};
/// From anyone who was given a ticket and has nothing to do with it.
struct skip {
  Ticket ticket = 0;
};

}  // namespace polychron::msg

namespace polychron {
using device_actor =
    caf::typed_actor<caf::reacts_to<msg::allocate>, caf::reacts_to<msg::write_bytes>,
                     caf::reacts_to<msg::read_bytes>, caf::reacts_to<msg::release>,
                     caf::reacts_to<msg::load>, caf::reacts_to<msg::execute>,
                     caf::reacts_to<msg::fail>, caf::reacts_to<msg::release_plan>,
                     caf::reacts_to<msg::skip>>;
}
