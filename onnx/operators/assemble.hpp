// Tensors taken apart and put together, on the host if they are known there.
#pragma once

#include <vector>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

const Shape& shape_of(const Tensor& tensor);
Term term_of(Node& node, const Tensor& tensor);

/// Elements begin to end of an axis.
Tensor part_of(Node& node, const Tensor& tensor, std::uint32_t axis, std::uint32_t begin,
               std::uint32_t end);
/// One element of an axis, which goes.
Tensor element_of(Node& node, const Tensor& tensor, std::uint32_t axis, std::uint32_t i);
/// One after another along an axis. Throws if there are none.
Tensor joined(Node& node, const std::vector<Tensor>& parts, std::uint32_t axis);
/// Likewise along a new axis.
Tensor stacked(Node& node, const std::vector<Tensor>& parts, std::uint32_t axis);

}  // namespace polychron::onnx::detail
