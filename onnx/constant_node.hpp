// The operator Constant, in all its forms. One attribute holds the value.
#pragma once

#include "onnx/constant.hpp"
#include "onnx/external_data.hpp"
#include "onnx/proto.hpp"

namespace polychron::onnx::detail {

/// Takes the value out of a Constant node's attribute. Throws Error (bad_data, not_supported).
Constant take_constant(proto::AttributeProto& attribute, ExternalData& external);

}  // namespace polychron::onnx::detail
