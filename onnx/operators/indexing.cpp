// Slice and Gather.
#include <algorithm>
#include <array>
#include <limits>

#include "onnx/handlers.hpp"
#include "onnx/operators/reshape.hpp"

namespace polychron::onnx::detail {

namespace {

/// The elements of one axis that a Slice takes.
struct Cut {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::uint32_t size = 0;
};

/// ONNX's rules: negative positions count from the end, all are clamped to the axis.
Cut cut_axis(std::int64_t start, std::int64_t end, std::int64_t step, std::uint32_t length) {
  if (step == 0) malformed("a step of 0");
  const std::int64_t n = length;
  // Larger steps take the same elements, but would overflow.
  step = std::clamp<std::int64_t>(step, -n - 1, n + 1);
  const bool forward = step > 0;
  const auto place = [&](std::int64_t at) {
    if (at < 0) at += n;
    return forward ? std::clamp<std::int64_t>(at, 0, n) : std::clamp<std::int64_t>(at, -1, n - 1);
  };
  start = forward ? place(start) : std::max<std::int64_t>(place(start), n > 0 ? 0 : -1);
  end = place(end);
  const auto distance = forward ? end - start : start - end;
  const auto stride = forward ? step : -step;
  const auto size = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  return {start, step, static_cast<std::uint32_t>(size)};
}

/// The cuts of all axes: attributes until opset 9, inputs since 10.
std::vector<Cut> read_cuts(const Node& node) {
  const auto& shape = node.shape(0);
  std::vector<Cut> cuts;
  for (const auto length : shape) cuts.push_back({0, 1, length});
  const auto starts = node.list("starts", 1, 10);
  const auto ends = node.list("ends", 2, 10);
  const auto named = node.list("axes", 3, 10);
  const auto steps = node.opset >= 10 ? node.optional_integers(4) : std::nullopt;
  if (!starts || !ends) malformed("starts and ends are expected");
  std::vector<std::uint32_t> axes;
  if (named) {
    axes = node.axes(*named, shape.size());
  } else {
    for (std::uint32_t d = 0; d < starts->size(); ++d) axes.push_back(node.axis(d, shape.size()));
  }
  if (ends->size() != starts->size() || axes.size() != starts->size() ||
      (steps && steps->size() != starts->size()))
    malformed("starts, ends, axes and steps have different lengths");
  for (std::size_t i = 0; i < axes.size(); ++i)
    cuts[axes[i]] = cut_axis((*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1, shape[axes[i]]);
  return cuts;
}

Operand index_constant(Node& node, const std::vector<std::int64_t>& values, const Shape& shape) {
  node.importer.spend_bytes(values.size() * sizeof(std::int32_t));
  return make_constant(node.importer, make_literal(ElementType::int32, shape, values));
}

/// WebNN's slice only goes forward: backward axes use gather.
Operand slice_operand(Node& node, const std::vector<Cut>& cuts) {
  auto input = node.operand(0);
  std::vector<std::uint32_t> starts, sizes, strides;
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    const auto& cut = cuts[d];
    const bool forward = cut.step > 0;
    const auto span = (std::int64_t{cut.size} - 1) * cut.step + 1;
    starts.push_back(forward ? static_cast<std::uint32_t>(cut.start) : 0);
    sizes.push_back(forward ? static_cast<std::uint32_t>(span) : input.shape()[d]);
    strides.push_back(forward ? static_cast<std::uint32_t>(cut.step) : 1);
  }
  if (sizes != input.shape() ||
      std::any_of(strides.begin(), strides.end(), [](auto stride) { return stride != 1; })) {
    input = node.builder.slice(input, {.starts = starts, .sizes = sizes, .strides = strides},
                               node.label());
  }
  for (std::size_t d = 0; d < cuts.size(); ++d) {
    if (cuts[d].step > 0) continue;
    if (cuts[d].size > max_calculated)
      unsupported("a backward slice of more than " + std::to_string(max_calculated) + " elements");
    std::vector<std::int64_t> at(cuts[d].size);
    for (std::size_t i = 0; i < at.size(); ++i)
      at[i] = cuts[d].start + static_cast<std::int64_t>(i) * cuts[d].step;
    input = node.builder.gather(input, index_constant(node, at, {cuts[d].size}),
                                {.axis = static_cast<std::uint32_t>(d)}, node.label());
  }
  return input;
}

void slice(Node& node) {
  const auto cuts = read_cuts(node);
  const auto& from = node.shape(0);
  Shape to;
  for (const auto& cut : cuts) to.push_back(cut.size);
  const bool whole = std::all_of(cuts.begin(), cuts.end(), [](auto& c) { return c.step == 1; });
  if (whole && from == to) return node.forward(0);
  const auto* known = node.literal(0);
  if (known && element_size(known->type) != 0 && count(to) <= max_calculated) {
    auto strides = strides_of(from);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < cuts.size(); ++d) {
      offset += cuts[d].start * strides[d];
      strides[d] *= cuts[d].step;
    }
    return node.set(strided(*known, to, offset, strides));
  }
  if (count(to) == 0) return node.set(make_literal(node.type(0), to, Buffer()));
  node.set(slice_operand(node, cuts));
}

/// Known indices, counted from the front. Throws if one is out of range.
std::vector<std::int64_t> checked_indices(const Literal& indices, std::uint32_t length) {
  auto values = integers(indices);
  for (auto& value : values) {
    if (value < -std::int64_t{length} || value >= std::int64_t{length})
      malformed("index " + std::to_string(value) + " of an axis of " + std::to_string(length));
    if (value < 0) value += length;
  }
  return values;
}

Literal gather_literal(const Literal& input, std::uint32_t axis,
                       const std::vector<std::int64_t>& indices, const Shape& shape) {
  auto bytes = Buffer::uninitialized(checked_bytes(input.type, shape));
  const auto middle = input.shape.begin() + axis;
  const auto rows = count({input.shape.begin(), middle});
  const auto block = count({middle + 1, input.shape.end()}) * element_size(input.type);
  auto* to = bytes.size() == 0 ? nullptr : bytes.data();
  for (std::size_t row = 0; row < rows; ++row)
    for (const auto index : indices)
      to = std::copy_n(
          input.bytes.data() + (row * *middle + static_cast<std::size_t>(index)) * block, block,
          to);
  return make_literal(input.type, shape, std::move(bytes));
}

void gather(Node& node) {
  const auto from = node.shape(0);
  const auto axis = node.axis(node.integer("axis", 0), from.size());
  const auto* known = node.calculable_literal(1);
  if (!known)
    return node.set(
        node.builder.gather(node.operand(0), node.operand(1), {.axis = axis}, node.label()));
  const auto indices = checked_indices(*known, from[axis]);
  Shape to = from;
  to.erase(to.begin() + axis);
  to.insert(to.begin() + axis, known->shape.begin(), known->shape.end());
  if (to.size() > max_rank) unsupported("rank " + std::to_string(to.size()));
  const auto* input = node.literal(0);
  const bool small = element_count(to).value_or(max_calculated + 1) <= max_calculated;
  if (input && small && element_size(input->type) != 0)
    return node.set(gather_literal(*input, axis, indices, to));
  const auto at = index_constant(node, indices, known->shape);
  node.set(node.builder.gather(node.operand(0), at, {.axis = axis}, node.label()));
}

}  // namespace

std::span<const Row> indexing_rows() noexcept {
  static constexpr std::array rows{
      Row{"Gather", gather},
      Row{"Slice", slice},
  };
  return rows;
}

}  // namespace polychron::onnx::detail
