// A pattern of importers: 8-bit integers minus their zero point, as float32.
#pragma once

#include "kernels/cpu/passes/match.hpp"

namespace polychron::kernels {

struct Difference {
  ops::ValueId elements, zero = ops::no_value;
};

/// Reads cast(float32, cast(int32, x) - cast(int32, zero)), or without a zero point. The types of
/// both are one, so that no difference is beyond 255.
std::optional<Difference> difference_of(const Matcher& match, ops::ValueId value);

}  // namespace polychron::kernels
