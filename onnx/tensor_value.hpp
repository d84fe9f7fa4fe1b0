// The caller's tensors as the importer's literals.
#pragma once

#include "onnx/literal.hpp"
#include "polychron/onnx_tensor.hpp"

namespace polychron::onnx::detail {

/// Shares the bytes; has none if the type has none on the host. Throws Error (type_error) if their
/// number does not match type and shape.
Literal literal_of(const TensorValue& value);

}  // namespace polychron::onnx::detail
