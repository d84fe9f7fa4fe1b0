// The compiler protocol: a graph description in, a plan out.
#pragma once

#include "messages/local_part.hpp"
#include "messages/protocol.hpp"
#include "messages/stamp.hpp"

namespace polychron::msg {

/// From the context: compile the description; answer `compiled` to the context.
struct compile {
  Build call;
  BuildReply reply;
  Permit permit;
  Stamp loads{};  ///< of the operation that loads the plan, if the call came early
};

}  // namespace polychron::msg

namespace polychron {
using compiler_actor = msg::Protocol<msg::compile>;
}
