// How long each step of a model's plan takes.
#pragma once

#include <vector>

#include "polychron/session.hpp"
#include "tools/progress.hpp"

namespace tool {

/// Seconds, in the plan's order: medians of runs on random inputs, one after the other, for about
/// `seconds`. Throws polychron::Error.
std::vector<double> step_times(const polychron::onnx::Session& session, double seconds,
                               Progress& progress);

}  // namespace tool
