// The context protocol: the calls of clients in call order, and the reports of the context's
// actors.
#pragma once

#include <string>

#include "kernels/backend.hpp"
#include "messages/local_part.hpp"
#include "messages/protocol.hpp"
#include "messages/stamp.hpp"
#include "polychron/result.hpp"

namespace polychron::msg {

/// From a port: a call and its local part.
struct submit {
  Call call;
  LocalPart local;
};
/// From the compiler: the plan of a graph, or an error.
struct compiled {
  Build call;
  BuildReply reply;
  Permit permit;
  Result<std::shared_ptr<kernels::Plan>> plan;
  Stamp loads{};  ///< compile::loads
};
/// From a lane: the operation of `ticket` failed, or was refused for a reason of its own.
struct operation_failed {
  Ticket ticket = 0;
  Error error;
};
/// From a lane: all operations of the fence's interval are done.
struct fence_passed {
  std::uint64_t id = 0;
};
/// From a tensor: its memory is back; its actor ends.
struct tensor_gone {
  TensorId tensor = 0;
};
/// From a graph: its plan is back; its actor ends.
struct graph_gone {
  GraphId graph = 0;
};
/// From any actor of this context: one of its handlers threw, which is a defect, or its device is
/// gone. The actor ends, and the context with it.
struct actor_failed {
  std::string message;
  bool out_of_memory = false;
};

}  // namespace polychron::msg

namespace polychron {
using context_actor =
    msg::Protocol<msg::submit, msg::operation_failed, msg::fence_passed, msg::compiled,
                  msg::tensor_gone, msg::graph_gone, msg::actor_failed>;
}  // namespace polychron
