// ONNX's generated messages, under one name. Only this folder includes them.
#pragma once

#include <onnx/onnx_pb.h>

namespace polychron::onnx {
namespace proto = ::onnx;
}  // namespace polychron::onnx
