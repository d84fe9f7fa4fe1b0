// TensorProto, ONNX's serialized tensor, as a Literal.
#pragma once

#include "onnx/constant.hpp"
#include "onnx/external_data.hpp"
#include "onnx/proto.hpp"

namespace polychron::onnx::detail {

/// Takes the tensor's elements out of `tensor`. Raw data, and typed fields with elements of the
/// right width, are moved, not copied. External data is located now and read later. The shape is
/// checked against the bytes before anything is allocated. Tensors of types without a size on the
/// host get no bytes, and are refused on use. Throws Error (bad_data, not_supported) without the
/// tensor's name.
Constant take_tensor(proto::TensorProto& tensor, ExternalData& external);

}  // namespace polychron::onnx::detail
