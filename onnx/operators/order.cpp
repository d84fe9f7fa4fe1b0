// Operators about the order of elements: Trilu, CumSum, CumProd, ReverseSequence.
#include <algorithm>
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/iota.hpp"

namespace polychron::onnx::detail {

namespace {

/// Keeps a triangle of the last two dimensions; the rest is 0.
void trilu(Node& node) {
  const auto& shape = node.shape(0);
  if (shape.size() < 2) malformed("a tensor of shape " + to_string(shape));
  const auto rows = shape[shape.size() - 2];
  const auto columns = shape.back();
  std::int64_t k = 0;
  if (node.has_input(1)) {
    const auto values = node.integers(1);
    if (values.size() != 1) malformed("the diagonal must be a scalar");
    k = std::clamp<std::int64_t>(values[0], -std::int64_t{rows} - 1, std::int64_t{columns} + 1);
  }
  const bool upper = node.integer("upper", 1) != 0;
  const auto kept = [&](std::int64_t row, std::int64_t column) {
    return upper ? column - row >= k : column - row <= k;
  };
  if (const auto* known = node.calculable_literal(0)) {
    const auto size = element_size(known->type);
    auto bytes = Buffer::copy_of(known->bytes);
    for (std::size_t i = 0; i < count(shape); ++i)
      if (!kept(static_cast<std::int64_t>(i / columns % rows),
                static_cast<std::int64_t>(i % columns)))
        std::fill_n(bytes.data() + i * size, size, std::byte{0});
    return node.set(make_literal(known->type, shape, std::move(bytes)));
  }
  node.set(node.builder.triangular(
      node.operand(0), {.upper = upper, .diagonal = static_cast<std::int32_t>(k)}, node.label()));
}

/// Input 1 of a running sum or product.
std::uint32_t axis_of(const Node& node) {
  const auto given = node.integers(1);
  if (given.size() != 1) malformed("the axis must be a scalar");
  return node.axis(given[0], node.rank(0));
}

void cumulative_sum(Node& node) {
  const auto x = term(node, 0);
  const auto axis = axis_of(node);
  node.set(node.builder.cumulative_sum(x.operand(),
                                       {.axis = axis,
                                        .exclusive = node.integer("exclusive", 0) != 0,
                                        .reversed = node.integer("reverse", 0) != 0},
                                       node.label()));
}

/// Doubles the number of factors in each element at each step (Hillis and Steele, Data parallel
/// algorithms, 1986).
void cumulative_product(Node& node) {
  const auto axis = axis_of(node);
  const bool reversed = node.integer("reverse", 0) != 0;
  auto x = term(node, 0);
  const auto length = x.shape()[axis];
  const auto moved = [&](std::uint32_t by) {
    const auto kept = reversed ? x.slice(axis, by, length) : x.slice(axis, 0, length - by);
    return reversed ? kept.pad(axis, 0, by, 1) : kept.pad(axis, by, 0, 1);
  };
  if (node.integer("exclusive", 0) != 0)
    x = length == 1 ? x.number(1).expand(x.shape()) : moved(1);
  else if (length == 1)
    return node.forward(0);
  for (std::uint64_t by = 1; by < length; by *= 2) x = x * moved(static_cast<std::uint32_t>(by));
  node.set(x.operand());
}

/// Reverses the first elements of each sequence, by gathering all rows.
void reverse_sequence(Node& node) {
  const auto x = term(node, 0);
  const auto time = node.axis(node.integer("time_axis", 0), x.rank());
  const auto batch = node.axis(node.integer("batch_axis", 1), x.rank());
  if (time + batch != 1) malformed("the axes must be the first two");
  const auto steps = x.shape()[time];
  const auto size = x.shape()[batch];
  auto lengths = term(node, 1).cast(DataType::int32);
  lengths = lengths.reshape(batch == 0 ? Shape{size, 1} : Shape{1, size});
  const auto step = iota(node, DataType::int32, 2, time, steps);
  const auto from = (step < lengths).choose(lengths - 1 - step, step);
  const auto row =
      from * static_cast<double>(time == 0 ? size : 1) +
      iota(node, DataType::int32, 2, batch, size) * static_cast<double>(batch == 0 ? steps : 1);
  Shape rows = x.shape().from(2);
  rows.insert(rows.begin(), steps * size);
  node.set(x.reshape(rows).gather(row, 0).operand());
}

}  // namespace

std::span<const Row> order_rows() noexcept {
  static constexpr std::array rows{
      Row{"CumProd", cumulative_product},
      Row{"CumSum", cumulative_sum},
      Row{"ReverseSequence", reverse_sequence},
      Row{"Trilu", trilu},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
