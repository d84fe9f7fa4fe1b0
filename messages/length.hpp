// How long operations of a lane are known to take: who waits may run what is short.
#pragma once

#include <cstdint>

namespace polychron::msg {

/// Up to some wake-ups of a thread (250 us) is brief, less than one (15 us) little.
enum class Length : std::uint8_t { unknown, brief, little };

}  // namespace polychron::msg
