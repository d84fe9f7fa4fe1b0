#include "onnx/operators/assemble.hpp"

#include <algorithm>

#include "onnx/operators/reshape.hpp"

namespace polychron::onnx::detail {

namespace {

Tensor with_shape(Node& node, const Tensor& tensor, const Shape& shape) {
  auto result = tensor.renamed();
  if (tensor.literal) return Tensor::of(reshaped(*tensor.literal, shape));
  result.operand = term_of(node, tensor).reshape(shape).operand();
  return result;
}

}  // namespace

const Shape& shape_of(const Tensor& tensor) {
  if (tensor.literal) return tensor.literal->shape;
  if (!tensor.operand) malformed("a tensor is expected, not a sequence or nothing");
  return tensor.operand->shape();
}

Term term_of(Node& node, const Tensor& tensor) {
  shape_of(tensor);
  return {node, tensor.operand ? *tensor.operand : node.constant_of(*tensor.literal)};
}

Tensor part_of(Node& node, const Tensor& tensor, std::uint32_t axis, std::uint32_t begin,
               std::uint32_t end) {
  auto shape = shape_of(tensor);
  if (axis >= shape.size() || begin > end || end > shape[axis])
    malformed("elements " + std::to_string(begin) + " to " + std::to_string(end) + " along axis " +
              std::to_string(axis) + " of " + to_string(shape));
  shape[axis] = end - begin;
  if (tensor.literal && element_size(tensor.literal->type) != 0) {
    const auto strides = strides_of(tensor.literal->shape);
    node.importer.spend_bytes(checked_bytes(tensor.literal->type, shape));
    return Tensor::of(strided(*tensor.literal, shape, strides[axis] * begin, strides));
  }
  auto result = tensor.renamed();
  result.operand = term_of(node, tensor).slice(axis, begin, end).operand();
  return result;
}

Tensor element_of(Node& node, const Tensor& tensor, std::uint32_t axis, std::uint32_t i) {
  const auto part = part_of(node, tensor, axis, i, i + 1);
  auto shape = shape_of(tensor);
  shape.erase(shape.begin() + axis);
  return with_shape(node, part, shape);
}

Tensor joined(Node& node, const std::vector<Tensor>& parts, std::uint32_t axis) {
  if (parts.empty()) unsupported("an empty result, which WebNN does not have");
  if (parts.size() == 1) return parts.front().renamed();
  std::int64_t length = 0;
  auto shape = shape_of(parts.front());
  std::vector<const Literal*> literals;
  std::vector<Term> terms;
  for (const auto& part : parts) {
    auto same = shape_of(part);
    if (axis >= same.size()) malformed("axis " + std::to_string(axis) + " of " + to_string(same));
    length += same[axis];
    same[axis] = shape[axis];
    if (same != shape)
      malformed("cannot put " + to_string(shape_of(part)) + " beside " + to_string(shape));
    const auto type = parts.front().literal ? parts.front().literal->type : ElementType::undefined;
    if (part.literal && part.literal->type == type) literals.push_back(&*part.literal);
  }
  shape[axis] = to_shape({length}).front();
  const bool small = element_count(shape).value_or(max_calculated + 1) <= max_calculated;
  if (literals.size() == parts.size() && small && element_size(literals.front()->type) != 0) {
    node.importer.spend_bytes(count(shape) * element_size(literals.front()->type));
    return Tensor::of(concatenated(literals, axis, shape));
  }
  for (const auto& part : parts)
    if (shape_of(part)[axis] != 0) terms.push_back(term_of(node, part));
  auto result = Tensor::of(concat(terms, axis).operand());
  result.type = parts.front().literal ? parts.front().literal->type : parts.front().type;
  return result;
}

Tensor stacked(Node& node, const std::vector<Tensor>& parts, std::uint32_t axis) {
  std::vector<Tensor> rows;
  for (const auto& part : parts) {
    auto shape = shape_of(part);
    if (axis > shape.size()) malformed("axis " + std::to_string(axis) + " of " + to_string(shape));
    shape.insert(shape.begin() + axis, 1);
    if (shape.size() > max_rank) unsupported("rank " + std::to_string(shape.size()));
    rows.push_back(with_shape(node, part, shape));
  }
  return joined(node, rows, axis);
}

}  // namespace polychron::onnx::detail
