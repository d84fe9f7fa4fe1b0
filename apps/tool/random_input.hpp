// Random values for inputs of any type.
#pragma once

#include <random>

#include "polychron/session.hpp"

namespace tool {

/// 0 to 1 for floating point types; 0 or 1 for integers, which is valid for indices, masks and
/// token types. The same state of `random` gives the same values.
polychron::Buffer random_input(const polychron::OperandDescriptor& descriptor,
                               std::mt19937_64& random);
/// Random values for each input of a session.
polychron::NamedBuffers random_inputs(const polychron::onnx::Session& session,
                                      std::mt19937_64& random);

/// Copies of the inputs, because each run consumes its own.
polychron::NamedBuffers copies_of(const polychron::NamedBuffers& inputs);

}  // namespace tool
