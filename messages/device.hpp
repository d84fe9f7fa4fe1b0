// The protocol of a lane's device actor. Never leaves the process.
//
// Every turn of a lane reaches its device actor exactly once, in a carry_out; the device carries
// operations out in order of their turns, whatever order they arrive in. The rest is taken as it
// comes.
#pragma once

#include <vector>

#include "messages/operation.hpp"
#include "messages/protocol.hpp"
#include "messages/shared/survey.hpp"

namespace polychron::msg {

/// From the context: the operation of this turn, and its caller's place.
struct carry_out {
  Stamp stamp;
  Operation operation;
  Place place;
};
/// From another lane: tell it `reached` when what this lane does to the object up to the turn is
/// done.
struct await_turn {
  Wait wait;
  std::uint32_t lane = 0;
};
/// From another lane: it has done what was waited for.
struct reached {
  Wait wait;
};
/// From the context: the lease granted at `turn` has ended; returned, or revoked.
struct end_lease {
  Ticket turn = 0;
  bool revoked = false;
};
/// From the context: add what waits here to the survey.
struct survey_lane {
  std::shared_ptr<Survey> survey;
};
/// Before anything else: the lanes of the context, this one among them.
struct meet;

}  // namespace polychron::msg

namespace polychron {
using device_actor = msg::Protocol<msg::carry_out, msg::await_turn, msg::reached, msg::end_lease,
                                   msg::survey_lane, msg::meet>;
}

namespace polychron::msg {
struct meet {
  std::vector<device_actor> lanes;
};
}  // namespace polychron::msg
