// How long operations of a lane are known to take: who waits may run what is short.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace polychron::msg {

enum class Length : std::uint8_t { unknown, brief, little };

/// Some wake-ups of a thread, and less than one.
inline constexpr auto longest_brief = std::chrono::microseconds(250);
inline constexpr auto longest_little = std::chrono::microseconds(15);
/// Of tensors, which are zeroed, copied or freed at some 5 bytes in a nanosecond.
inline constexpr std::size_t largest_brief = 1U << 18U;
inline constexpr std::size_t largest_little = 1U << 16U;

}  // namespace polychron::msg
