// The unbound free dimensions of a model, as options that would bind them.
#pragma once

#include <string>

#include "polychron/onnx.hpp"

namespace tool {

/// "--bind batch=1 --bind y=1x4": by symbol, and by the name of an input whose free dimensions have
/// none. Empty if everything is bound.
std::string missing_bindings(const polychron::onnx::Summary& model,
                             const polychron::onnx::ImportOptions& options);

}  // namespace tool
