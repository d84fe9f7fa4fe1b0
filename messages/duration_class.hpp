// How long an operation of a lane is known to take. A waiting caller runs only what is known to be
// short.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace polychron::msg {

/// `short_` carries an underscore because `short` is a keyword.
enum class DurationClass : std::uint8_t { unknown, short_, tiny };

/// The longest short operation takes as long as several wake-ups of a thread, a tiny one less than
/// a single wake-up (15 to 40 us).
inline constexpr auto longest_short = std::chrono::microseconds(250);
inline constexpr auto longest_tiny = std::chrono::microseconds(15);
/// The same limits for operations that zero, copy or free a tensor, at some 5 bytes a nanosecond.
inline constexpr std::size_t largest_short = 1U << 18U;
inline constexpr std::size_t largest_tiny = 1U << 16U;

}  // namespace polychron::msg
