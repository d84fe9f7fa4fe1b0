// Times in words.
#pragma once

#include <array>
#include <cstdio>
#include <string>

#include "observe/trace/joined_trace.hpp"

namespace polychron::trace {

/// "950 ns", "1.25 ms", "3.1 s".
inline std::string in_words(Time nanoseconds) {
  static constexpr std::array units{"ns", "us", "ms", "s"};
  auto value = static_cast<double>(nanoseconds);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  const int written = std::snprintf(text.data(), text.size(), "%.3g %s", value, units[unit]);
  return {text.data(), static_cast<std::size_t>(written)};
}

}  // namespace polychron::trace
