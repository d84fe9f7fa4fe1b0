// Duration classes of a lane's operations. A waiting caller may run short ones itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace polychron::msg {

enum class Length : std::uint8_t { unknown, brief, little };

/// The time of a few thread wake-ups, and less than one wake-up.
inline constexpr auto longest_brief = std::chrono::microseconds(250);
inline constexpr auto longest_little = std::chrono::microseconds(15);
/// The tensor sizes of these classes: zeroing, copying and freeing take about 1 ns for 5 bytes.
inline constexpr std::size_t largest_brief = 1U << 18U;
inline constexpr std::size_t largest_little = 1U << 16U;

}  // namespace polychron::msg
