// The compiler protocol: a graph description in, a plan out.
#pragma once

#include "messages/local_part.hpp"
#include "messages/protocol.hpp"

namespace polychron::msg {

/// From the context: compile the description; answer `compiled` to the context.
struct compile {
  Build call;
  BuildReply reply;
  Place place;
};
/// Before anything else: the context.
struct meet_context {
  caf::actor_addr context;
};

}  // namespace polychron::msg

namespace polychron {
using compiler_actor = msg::Protocol<msg::compile, msg::meet_context>;
}
