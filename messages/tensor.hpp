// The tensor protocol: the messages to a tensor actor from its context and the lanes.
#pragma once

#include <string>
#include <variant>

#include "messages/local_part.hpp"
#include "messages/outcome.hpp"
#include "messages/protocol.hpp"

namespace polychron::msg {

/// From the context: the operation of `ticket` is on its way to a lane and owes this reply. It is a
/// creation, a query, an export or a read.
struct expect_of_tensor {
  Ticket ticket = 0;
  std::variant<Promise<void>, ErrorReply, LeaseReply, ReadLoanGuard> reply;
};
/// From the context: reject pending replies and revoke leases, at once.
struct destroy_tensor {
  std::string label;  ///< the tensor's, for the rejections
};
/// From a lane: the operation of `ticket` changed the tensor's state.
struct tensor_became {
  Ticket ticket = 0;
  Outcome outcome;
};
/// From a lane: the operation of `ticket`, which owed a reply, was carried out, or failed with
/// `error`.
struct tensor_answered {
  Ticket ticket = 0;
  std::optional<Error> error;
};
/// From the context: a lease was returned.
struct lease_ended {
  LeaseRef lease;
};

}  // namespace polychron::msg

namespace polychron {
using tensor_actor = msg::Protocol<msg::expect_of_tensor, msg::tensor_answered, msg::tensor_became,
                                   msg::lease_ended, msg::destroy_tensor>;
}
