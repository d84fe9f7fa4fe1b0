// Operations on any lane, for searched programs.
#pragma once

#include <cstdint>

#include "messages/stamp.hpp"

namespace polychron::stress {

/// Production keeps dependent operations on one lane, so lanes seldom wait for each other. Any lane
/// is as right, and the search needs lanes that wait. So half of the operations go where their
/// tickets say, and half where production puts them.
msg::Placement scattered(std::uint32_t lanes);

}  // namespace polychron::stress
