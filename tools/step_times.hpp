// How long each step of a model's plan takes.
#pragma once

#include <vector>

#include "polychron/session.hpp"

namespace tool {

/// The steps in the plan's order, with the median of the times that each took, in runs on `inputs`
/// one after the other for about `seconds`. Throws polychron::Error.
std::vector<polychron::StepProfile> step_times(const polychron::onnx::Session& session,
                                               const polychron::NamedBuffers& inputs,
                                               double seconds);

}  // namespace tool
