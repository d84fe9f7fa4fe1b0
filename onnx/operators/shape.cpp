// Operators that read or change shapes, or make tensors of a given shape.
#include <algorithm>
#include <array>
#include <cmath>

#include "onnx/handlers.hpp"
#include "onnx/operators/reshape.hpp"

namespace polychron::onnx::detail {

void reshape_to(Node& node, const Shape& shape) {
  if (node.shape(0) == shape) return node.forward(0);
  if (const auto* known = node.literal(0)) return node.set(reshaped(*known, shape));
  node.set(node.builder.reshape(node.operand(0), shape, node.label()));
}

void set_filled(Node& node, const Literal& scalar, const Shape& shape) {
  const auto elements = element_count(shape);
  if (elements && *elements <= max_calculated && calculable(scalar))
    return node.set(strided(scalar, shape, 0, broadcast_strides({}, shape)));
  node.set(node.builder.expand(make_constant(node.importer, scalar), shape, node.label()));
}

Shape to_shape(const std::vector<std::int64_t>& dimensions) {
  if (dimensions.size() > max_rank)
    unsupported("rank " + std::to_string(dimensions.size()) + " is above " +
                std::to_string(max_rank));
  return unsigned_list(dimensions, "a dimension");
}

namespace {

void shape(Node& node) {
  const auto& dimensions = node.shape(0);
  const auto rank = static_cast<std::int64_t>(dimensions.size());
  const auto clamped = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const auto start = clamped(node.integer("start", 0));
  const auto end = std::max(start, clamped(node.integer("end", rank)));
  const std::vector<std::int64_t> values(dimensions.begin() + start, dimensions.begin() + end);
  node.set(make_literal(ElementType::int64, {static_cast<std::uint32_t>(values.size())}, values));
}

void size(Node& node) {
  const auto elements = static_cast<std::int64_t>(count(node.shape(0)));
  node.set(make_literal(ElementType::int64, {}, std::vector{elements}));
}

/// 0 copies the input's dimension unless allowzero is set; -1 stands for the remaining size.
void reshape(Node& node) {
  auto wanted = node.list("shape", 1, 5).value_or(std::vector<std::int64_t>{});
  const auto& from = node.shape(0);
  const bool allow_zero = node.integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] == 0 && !allow_zero) {
      if (i >= from.size()) malformed("dimension " + std::to_string(i) + " of 0 has none to copy");
      wanted[i] = from[i];
    }
  const auto open = std::find(wanted.begin(), wanted.end(), -1);
  if (open != wanted.end()) {
    *open = 1;
    const auto rest = element_count(to_shape(wanted)).value_or(0);
    const auto total = count(from);
    if (rest == 0 || total % rest != 0)
      malformed("shape " + to_string(from) + " does not fill the shape that is asked for");
    *open = static_cast<std::int64_t>(total / rest);
  }
  reshape_to(node, to_shape(wanted));
}

void flatten(Node& node) {
  const auto& from = node.shape(0);
  const auto axis = node.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(from.size());
  if (axis < -rank || axis > rank) malformed("axis " + std::to_string(axis));
  const auto middle = from.begin() + (axis < 0 ? axis + rank : axis);
  const auto rows = count({from.begin(), middle});
  const auto columns = count({middle, from.end()});
  reshape_to(node, to_shape({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}));
}

void squeeze(Node& node) {
  const auto& from = node.shape(0);
  const auto given = node.list("axes", 1, 13);
  std::vector<std::uint32_t> axes;
  if (given) axes = node.axes(*given, from.size());
  Shape to;
  for (std::uint32_t d = 0; d < from.size(); ++d) {
    const bool named = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (named && from[d] != 1)
      malformed("axis " + std::to_string(d) + " of shape " + to_string(from) + " is not 1");
    if (!named && (given || from[d] != 1)) to.push_back(from[d]);
  }
  reshape_to(node, to);
}

void unsqueeze(Node& node) {
  const auto& from = node.shape(0);
  const auto given = node.list("axes", 1, 13);
  if (!given) malformed("the axes are missing");
  const auto rank = from.size() + given->size();
  if (rank > max_rank) unsupported("rank " + std::to_string(rank));
  const auto axes = node.axes(*given, rank);
  Shape to(rank);
  auto next = from.begin();
  for (std::uint32_t d = 0; d < rank; ++d)
    to[d] = std::find(axes.begin(), axes.end(), d) != axes.end() ? 1 : *next++;
  reshape_to(node, to);
}

/// Both shapes are broadcast: `shape` may be the smaller one.
void expand(Node& node) {
  const auto& from = node.shape(0);
  const auto to = broadcast_shape(from, to_shape(node.integers(1)));
  if (from == to) return node.forward(0);
  const auto* known = node.calculable_literal(0);
  if (known && element_count(to).value_or(max_calculated + 1) <= max_calculated)
    return node.set(strided(*known, to, 0, broadcast_strides(from, to)));
  node.set(node.builder.expand(node.operand(0), to, node.label()));
}

void constant_of_shape(Node& node) {
  const auto shape = to_shape(node.integers(0));
  auto value = node.tensor("value");
  if (!value) value = make_literal(ElementType::float32, {}, std::vector<double>{0});
  if (count(*value) != 1) malformed("attribute 'value' must have one element");
  set_filled(node, reshaped(*value, {}), shape);
}

void range(Node& node) {
  const auto start = node.optional_scalar(0);
  const auto limit = node.optional_scalar(1);
  const auto delta = node.optional_scalar(2);
  if (!start || !limit || !delta) malformed("start, limit and delta are expected");
  if (*delta == 0) malformed("delta is 0");
  const auto steps = std::max(0.0, std::ceil((*limit - *start) / *delta));
  if (!(steps <= static_cast<double>(max_calculated))) unsupported("a range of that many numbers");
  std::vector<double> values(static_cast<std::size_t>(steps));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = *start + static_cast<double>(i) * *delta;
  node.set(
      make_literal(node.literal(0)->type, {static_cast<std::uint32_t>(values.size())}, values));
}

void identity(Node& node) { node.forward(0); }

/// Inference only: returns the input, and a mask of ones. Opset 12 made the mode an input.
void dropout(Node& node) {
  const bool trains = node.opset >= 12 && node.optional_scalar(2).value_or(0) != 0;
  if (trains && node.optional_scalar(1).value_or(0.5) != 0) unsupported("training");
  if (node.opset < 7 && node.integer("is_test", 0) == 0 && node.wants_output(1))
    unsupported("training");
  if (node.wants_output(1)) {
    const auto one = node.builder.constant(DataType::uint8, std::int64_t{1});
    node.set(node.builder.expand(one, node.shape(0), node.label()), 1, ElementType::boolean);
  }
  node.forward(0);
}

/// Ones on a diagonal. Without a type attribute it has the input's type.
void eye_like(Node& node) {
  const auto& shape = node.shape(0);
  if (shape.size() != 2) malformed("a matrix is expected, not " + to_string(shape));
  const auto type = node.integer("dtype", static_cast<std::int64_t>(node.type(0)));
  const auto k = node.integer("k", 0);
  if (element_count(shape).value_or(max_calculated * 17) > max_calculated * 16)
    unsupported("a matrix of that size");
  node.importer.spend_bytes(count(shape) * 8);
  std::vector<std::int64_t> values(count(shape), 0);
  for (std::int64_t row = 0; row < shape[0]; ++row)
    if (k > -row - 1 && k < shape[1] - row)
      values[static_cast<std::size_t>(row * shape[1] + row + k)] = 1;
  node.set(make_literal(static_cast<ElementType>(type), shape, values));
}

void constant_of(Node& node) { node.set(node.constant()); }

}  // namespace

std::span<const Row> shape_rows() noexcept {
  static constexpr std::array rows{
      Row{"Constant", constant_of},
      Row{"ConstantOfShape", constant_of_shape},
      Row{"Dropout", dropout},
      Row{"Expand", expand},
      Row{"EyeLike", eye_like},
      Row{"Flatten", flatten},
      Row{"Identity", identity},
      Row{"Range", range},
      Row{"Reshape", reshape},
      Row{"Shape", shape},
      Row{"Size", size},
      Row{"Squeeze", squeeze},
      Row{"Unsqueeze", unsqueeze},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
