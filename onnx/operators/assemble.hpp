// Splits and joins tensors, on the host if their values are known.
#pragma once

#include <vector>

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

const Shape& shape_of(const Tensor& tensor);
Term term_of(Node& node, const Tensor& tensor);

/// Elements begin to end of an axis.
Tensor part_of(Node& node, const Tensor& tensor, std::uint32_t axis, std::uint32_t begin,
               std::uint32_t end);
/// One element of an axis; the axis is removed.
Tensor element_of(Node& node, const Tensor& tensor, std::uint32_t axis, std::uint32_t i);
/// Concatenates along an axis. Throws if there are no parts.
Tensor joined(Node& node, const std::vector<Tensor>& parts, std::uint32_t axis);
/// Concatenates along a new axis.
Tensor stacked(Node& node, const std::vector<Tensor>& parts, std::uint32_t axis);

}  // namespace polychron::onnx::detail
