// The smallest backend: copy it to begin one for a new device (docs/devices.md).
//
// It keeps every promise of kernels/backend.hpp except one: it computes nothing, so every output
// stays as it was. A device of your own has memory instead of a Buffer, steps in its plan, and a
// kernel in execute().
#pragma once

#include <memory>

#include "kernels/backend.hpp"

namespace polychron::testing {

/// Any number of device actors may share it: it has no state.
std::shared_ptr<kernels::Backend> make_null_backend();

}  // namespace polychron::testing
