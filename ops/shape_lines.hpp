// The shape rules in words, for the documentation: one line for each rule of ops/shape_rules.hpp.
#pragma once

#include <string_view>

#include "ops/row.hpp"

namespace polychron::ops {

/// The shape of the results, and the conditions on the operands' shapes. Empty for a rule without a
/// line; a test refuses that.
std::string_view shape_line(ShapeRule rule);

}  // namespace polychron::ops
