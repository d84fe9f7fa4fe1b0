// The protocol of a lane's device actor. Never leaves the process.
//
// Every turn of a lane reaches its device actor exactly once, in a carry_out. The device carries
// operations out in order of their turns, in whatever order they arrive. It handles all other
// messages as they arrive.
#pragma once

#include <vector>

#include "messages/operation.hpp"
#include "messages/protocol.hpp"
#include "messages/shared/survey.hpp"

namespace polychron::msg {

/// From the context: the operation of this turn, and its permit.
struct carry_out {
  Stamp stamp;
  Operation operation;
  Permit permit;
};
/// From another lane: send it `reached` once this lane has done its operations on the object up to
/// the turn.
struct await_turn {
  Wait wait;
  std::uint32_t lane = 0;
};
/// From another lane: it has done the operations of that wait.
struct reached {
  Wait wait;
};
/// From the context: the lease granted at `turn` has ended; returned, or revoked.
struct end_lease {
  Ticket turn = 0;
  bool revoked = false;
};
/// From the device: it has finished the execution that the operation submitted.
struct executed {
  Ticket ticket = 0;
  Ticket turn = 0;
};
/// From the context: add this lane's waiting operations to the survey.
struct survey_lane {
  std::shared_ptr<Survey> survey;
};
/// The first message: all lanes of the context, including this one.
struct meet;

}  // namespace polychron::msg

namespace polychron {
using device_actor = msg::Protocol<msg::carry_out, msg::await_turn, msg::reached, msg::end_lease,
                                   msg::executed, msg::survey_lane, msg::meet>;
}

namespace polychron::msg {
struct meet {
  std::vector<device_actor> lanes;
};
}  // namespace polychron::msg
