// How long operations of a lane are known to take: who waits may run what is short.
#pragma once

#include <chrono>
#include <cstdint>

namespace polychron::msg {

enum class Length : std::uint8_t { unknown, brief, little };

/// Some wake-ups of a thread, and less than one.
inline constexpr auto longest_brief = std::chrono::microseconds(250);
inline constexpr auto longest_little = std::chrono::microseconds(15);

}  // namespace polychron::msg
