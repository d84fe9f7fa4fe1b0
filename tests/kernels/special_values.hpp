// The special numbers.
#pragma once

#include <limits>

namespace polychron::tests::floats {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace polychron::tests::floats
