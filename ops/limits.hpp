// The limits of the operators, derived from the table.
#pragma once

#include "polychron/limits.hpp"

namespace polychron::ops {

/// The limits of every operator of the table; `strict`: without the operators and types that the
/// specification does not have. Made once; lives as long as the program.
const OpSupportLimits& support_limits(bool strict);

}  // namespace polychron::ops
