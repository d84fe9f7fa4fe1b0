// The largest and the smallest elements of an axis: ArgMax, ArgMin, Hardmax, TopK; and OneHot.
#include <array>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"
#include "polychron/context.hpp"

namespace polychron::onnx::detail {

namespace {

/// The position, in int64, of the first or last extreme element of an axis, which stays as 1.
Term extreme(const Term& x, std::uint32_t axis, bool largest, bool last) {
  const auto length = x.shape()[axis];
  const auto best =
      x.reduce(largest ? &GraphBuilder::reduce_max : &GraphBuilder::reduce_min, {axis}, true);
  const auto positions = iota(x.node(), DataType::int64, x.rank(), axis, length);
  const auto none = positions.number(last ? 0 : length - 1.0);
  const auto hits = (x == best).choose(positions, none);
  return hits.reduce(last ? &GraphBuilder::reduce_max : &GraphBuilder::reduce_min, {axis}, true);
}

template <bool largest>
void arg_extreme(Node& node) {
  const auto x = term(node, 0);
  const auto axis = node.axis(node.integer("axis", 0), x.rank());
  if (node.integer("select_last_index", 0) == 0) {
    const ArgMinMaxAttributes attributes{.axis = axis,
                                         .keep_dimensions = node.integer("keepdims", 1) != 0,
                                         .output_data_type = DataType::int64};
    const auto at = largest ? node.builder.arg_max(x.operand(), attributes, node.label())
                            : node.builder.arg_min(x.operand(), attributes, node.label());
    return node.set(at, 0, ElementType::int64);
  }
  // WebNN's operator takes the first of several.
  auto result = extreme(x, axis, largest, true);
  if (node.integer("keepdims", 1) == 0) result = result.at(axis, 0);
  node.set(result.operand(), 0, ElementType::int64);
}

/// Up to opset 12 the dimensions from `axis` on count as one.
void hardmax(Node& node) {
  auto x = term(node, 0);
  const auto shape = x.shape();
  auto axis = node.axis(node.integer("axis", node.opset >= 13 ? -1 : 1), shape.size());
  if (node.opset < 13) {
    const auto middle = shape.begin() + axis;
    x = x.reshape({static_cast<std::uint32_t>(count({shape.begin(), middle})),
                   static_cast<std::uint32_t>(count({middle, shape.end()}))});
    axis = 1;
  }
  const auto positions = iota(node, DataType::int64, x.rank(), axis, x.shape()[axis]);
  const auto hit = positions == extreme(x, axis, true, false);
  node.set(hit.cast(x.data_type()).reshape(shape).operand());
}

void one_hot(Node& node) {
  auto indices = term(node, 0);
  const auto depth = node.optional_scalar(1);
  if (!depth || *depth < 1 || *depth > max_calculated * 16) unsupported("such a depth");
  const auto rank = indices.rank() + 1;
  if (rank > max_rank) unsupported("rank " + std::to_string(rank));
  const auto axis = node.axis(node.integer("axis", -1), rank);
  const auto type = indices.data_type() == DataType::float16 ? DataType::float32 : DataType::int64;
  indices = indices.cast(type).unsqueeze(axis);
  indices = (indices < 0).choose(indices + *depth, indices);
  const auto values = term(node, 2);
  if (values.shape() != Shape{2}) malformed("the values must be two");
  const auto hit = indices == iota(node, type, rank, axis, static_cast<std::uint32_t>(*depth));
  node.set(hit.choose(values.at(0, 1), values.at(0, 0)).operand(), 0, node.type(2));
}

struct Best {
  Term values, positions;
};

/// Comparing each element with all others gives its rank, and so its place. The cost is the square
/// of the last axis' length, so it suits only short axes.
Best by_comparison(const Term& x, std::uint32_t k, bool largest) {
  const auto last = static_cast<std::uint32_t>(x.rank() - 1);
  const auto length = x.shape()[last];
  auto& node = x.node();
  const auto self = x.unsqueeze(last + 1);  // [..., i, 1]
  const auto other = x.unsqueeze(last);     // [..., 1, j]
  const auto row = iota(node, DataType::int32, x.rank() + 1, last, length);
  const auto column = iota(node, DataType::int32, x.rank() + 1, last + 1, length);
  const auto better = (largest ? other > self : other < self) || (other == self && column < row);
  const auto rank = better.cast(DataType::int32).sum({last + 1}, true);  // [..., i, 1]
  const auto hit = rank == iota(node, DataType::int32, x.rank() + 1, last + 1, k);
  const auto positions = hit.cast(DataType::int32) * row;
  // Sums over one element and zeros.
  const bool narrow = x.data_type() == DataType::int8 || x.data_type() == DataType::uint8;
  const auto wide = self.cast(narrow ? DataType::int32 : x.data_type());
  const auto values = hit.choose(wide, wide.number(0)).sum({last});
  return {values.cast(x.data_type()), positions.sum({last})};
}

/// In the specification's operators, for strict contexts.
Best by_specification(Term x, std::uint32_t axis, std::uint32_t k, bool largest) {
  const auto length = x.shape()[axis];
  if (count(x.shape()) * length > (1U << 24))
    unsupported(std::to_string(k) + " of " + std::to_string(length) +
                " elements in a strict context: they are compared in pairs, which are too many");
  std::vector<std::uint32_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0U);
  std::swap(order[axis], order.back());
  const auto best = by_comparison(x.transpose(order), k, largest);
  return {best.values.transpose(order), best.positions.cast(DataType::int64).transpose(order)};
}

Best best_of(const Term& x, std::uint32_t axis, std::uint32_t k, bool largest) {
  auto& node = x.node();
  if (!node.builder.context().op_support_limits().find("topK"))
    return by_specification(x, axis, k, largest);
  const auto positions = x.with(
      node.builder.top_k(x.operand(), {.k = k, .axis = axis, .largest = largest}, node.label()));
  return {x.with(node.builder.gather_elements(x.operand(), positions.operand(), {.axis = axis},
                                              node.label())),
          positions};
}

/// k was an attribute up to opset 9.
void top_k(Node& node) {
  const auto x = term(node, 0);
  const auto axis = node.axis(node.integer("axis", -1), x.rank());
  const auto wanted = node.list("k", 1, 10);
  const auto k = wanted && wanted->size() == 1 ? wanted->front() : node.integer("k", 0);
  const auto length = x.shape()[axis];
  if (k < 1 || k > length)
    unsupported(std::to_string(k) + " of " + std::to_string(length) + " elements");
  const bool largest = node.integer("largest", 1) != 0;
  const auto best = best_of(x, axis, static_cast<std::uint32_t>(k), largest);
  node.set(best.values.operand());
  if (node.wants_output(1)) node.set(best.positions.operand(), 1, ElementType::int64);
}

}  // namespace

std::span<const Row> selection_rows() noexcept {
  static constexpr std::array rows{
      Row{"ArgMax", arg_extreme<true>},
      Row{"ArgMin", arg_extreme<false>},
      Row{"Hardmax", hardmax},
      Row{"OneHot", one_hot},
      Row{"TopK", top_k},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
