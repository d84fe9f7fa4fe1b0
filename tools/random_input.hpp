// Random values for inputs of any type.
#pragma once

#include <random>

#include "polychron/session.hpp"

namespace tool {

/// 0 to 1 for floating point types; 0 or 1 for integers, which is in range for indices, masks and
/// token types alike. The same for the same state of `random`.
polychron::Buffer random_input(const polychron::OperandDescriptor& descriptor,
                               std::mt19937_64& random);
/// For each of a session's inputs.
polychron::NamedBuffers random_inputs(const polychron::onnx::Session& session,
                                      std::mt19937_64& random);

/// A run takes its inputs away; so the next one can have them too.
polychron::NamedBuffers copies_of(const polychron::NamedBuffers& inputs);

}  // namespace tool
