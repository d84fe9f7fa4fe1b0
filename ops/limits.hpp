// What the operators accept, derived from the table.
#pragma once

#include "polychron/limits.hpp"

namespace polychron::ops {

/// The limits of every operator of the table. Made once; lives as long as the program.
const OpSupportLimits& support_limits();

}  // namespace polychron::ops
