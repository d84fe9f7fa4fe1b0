// The shape rules in words, for the documentation: a line for each rule of ops/shape_rules.hpp.
#pragma once

#include <string_view>

#include "ops/row.hpp"

namespace polychron::ops {

/// The shape of the results, and what is asked of the operands' for it. Empty for a rule that has
/// no line, which a test does not let pass.
std::string_view shape_line(ShapeRule rule);

}  // namespace polychron::ops
