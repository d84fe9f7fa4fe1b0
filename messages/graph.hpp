// The graph protocol: the messages to a graph actor from its context and the lanes.
#pragma once

#include "messages/local_part.hpp"
#include "messages/outcome.hpp"
#include "messages/protocol.hpp"

namespace polychron::msg {

/// From the context: the compute of `ticket` is on its way to a lane.
struct expect_of_graph {
  Ticket ticket = 0;
  BatchLoanGuard batch;
};
/// From the context: let earlier calls finish, and end when a lane has freed the plan.
struct destroy_graph {};
/// From a lane: the operation of `ticket` changed the graph's state.
struct graph_became {
  Ticket ticket = 0;
  Outcome outcome;
};
/// From a lane: the compute of `ticket` is done and answered.
struct graph_answered {
  Ticket ticket = 0;
};

}  // namespace polychron::msg

namespace polychron {
using graph_actor =
    msg::Protocol<msg::expect_of_graph, msg::graph_answered, msg::graph_became, msg::destroy_graph>;
}
