// Times each step of a model's plan.
#pragma once

#include <vector>

#include "polychron/session.hpp"

namespace tool {

/// The steps in the plan's order with their median times, from consecutive runs on `inputs` for
/// about `seconds`. Throws polychron::Error.
std::vector<polychron::StepProfile> step_times(const polychron::onnx::Session& session,
                                               const polychron::NamedBuffers& inputs,
                                               double seconds);

}  // namespace tool
