// Shape and data movement.
#include <algorithm>

#include "ops/call.hpp"
#include "ops/dimensions.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> concat_shape(const Call& call) {
  const auto axis = call.attributes<ConcatAttributes>().axis;
  const Shape& first = call.shape(0);
  call.expect_axis(axis, first.size());
  Shape result = first;
  std::uint64_t sum = first[axis];
  bool known = !is_symbol(first[axis]);
  for (std::size_t i = 1; i < call.size(); ++i) {
    Shape shape = call.shape(i);
    if (shape.size() != first.size())
      call.fail(call.name(i) + " has rank " + std::to_string(shape.size()) + ", expected " +
                std::to_string(first.size()) + " as " + call.name(0));
    sum += shape[axis];
    known = known && !is_symbol(shape[axis]);
    shape[axis] = first[axis];
    if (differ(shape, first))
      call.fail(call.name(i) + " has shape " + to_string(call.shape(i)) + ", expected " +
                to_string(first) + " but for axis " + std::to_string(axis));
  }
  if (known)
    result[axis] = call.expect_dimension(sum, "the result's size along the axis");
  else if (call.size() > 1)
    result[axis] = derived;
  return {result};
}

std::vector<Shape> expand_shape(const Call& call) {
  const Shape& target = call.attributes<ExpandAttributes>().new_shape;
  if (!broadcastable(call.shape(0), target))
    call.fail("operand 'input' has shape " + to_string(call.shape(0)) +
              ", expected one that broadcasts to newShape, " + to_string(target));
  return {target};
}

std::vector<Shape> pad_shape(const Call& call) {
  const auto& attributes = call.attributes<PadAttributes>();
  Shape result = call.shape(0);
  call.expect_length(attributes.beginning_padding, result.size(), "beginningPadding");
  call.expect_length(attributes.ending_padding, result.size(), "endingPadding");
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto before = attributes.beginning_padding[i];
    const auto after = attributes.ending_padding[i];
    if (is_symbol(result[i])) {
      if (before > 0 || after > 0) result[i] = derived;
      continue;
    }
    if (attributes.mode == PaddingMode::reflection && std::max(before, after) >= result[i])
      call.fail("the padding of dimension " + std::to_string(i) + " is " +
                std::to_string(std::max(before, after)) + ", expected less than its size, " +
                std::to_string(result[i]) + ", in reflection mode");
    result[i] = call.expect_dimension(std::uint64_t{result[i]} + before + after,
                                      "a dimension of the result");
  }
  return {result};
}

std::vector<Shape> reshape_shape(const Call& call) {
  const Shape& target = call.attributes<ReshapeAttributes>().new_shape;
  if (counts_differ(target, call.shape(0)))
    call.fail("newShape is " + to_string(target) + ", expected as many elements as " +
              to_string(call.shape(0)) + " has");
  return {target};
}

std::vector<Shape> slice_shape(const Call& call) {
  const auto& [starts, sizes, strides] = call.attributes<SliceAttributes>();
  const Shape& input = call.shape(0);
  call.expect_length(starts, input.size(), "starts");
  call.expect_length(sizes, input.size(), "sizes");
  call.expect_positive(sizes, "sizes");
  if (strides) {
    call.expect_length(*strides, input.size(), "strides");
    call.expect_positive(*strides, "strides");
  }
  Shape result;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const auto end = std::uint64_t{starts[i]} + sizes[i];
    if (end > input[i])
      call.fail("the slice of dimension " + std::to_string(i) + " ends at " + std::to_string(end) +
                ", expected at most its size, " + std::to_string(input[i]));
    const auto stride = strides ? (*strides)[i] : 1;
    result.push_back(sizes[i] / stride + (sizes[i] % stride != 0 ? 1 : 0));
  }
  return {result};
}

std::vector<Shape> split_shape(const Call& call) {
  const auto& [splits, equal_parts, axis] = call.attributes<SplitAttributes>();
  const Shape& input = call.shape(0);
  call.expect_axis(axis, input.size());
  if (equal_parts) call.expect_length(splits, 1, "splits");
  const std::size_t count = equal_parts ? splits[0] : splits.size();
  if (count == 0 || count > max_tensor_count)
    call.fail("splits asks for " + std::to_string(count) + " parts, expected 1 to " +
              std::to_string(max_tensor_count));
  call.expect_positive(splits, "splits");
  const bool known = !is_symbol(input[axis]);
  if (known && equal_parts && input[axis] % count != 0)
    call.fail("splits is " + std::to_string(count) + ", expected a divisor of the dimension, " +
              std::to_string(input[axis]));
  std::vector<Shape> results(count, input);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto& size = results[i][axis];
    if (!equal_parts)
      size = splits[i];
    else if (known)
      size /= static_cast<std::uint32_t>(count);
    else if (count > 1)
      size = derived;
    sum += size;
  }
  if (known && sum != input[axis])
    call.fail("splits adds up to " + std::to_string(sum) + ", expected " +
              std::to_string(input[axis]));
  return results;
}

std::vector<Shape> transpose_shape(const Call& call) {
  const Shape& input = call.shape(0);
  const auto& permutation = call.attributes<TransposeAttributes>().permutation;
  if (!permutation) return {Shape(input.rbegin(), input.rend())};
  call.expect_length(*permutation, input.size(), "permutation");
  call.expect_axes(*permutation, input.size(), "permutation");
  Shape result;
  for (const auto axis : *permutation) result.push_back(input[axis]);
  return {result};
}

std::vector<Shape> reverse_shape(const Call& call) {
  const auto& axes = call.attributes<ReverseAttributes>().axes;
  if (axes) call.expect_axes(*axes, call.shape(0).size(), "axes");
  return {call.shape(0)};
}

std::vector<Shape> tile_shape(const Call& call) {
  const auto& repetitions = call.attributes<TileAttributes>().repetitions;
  Shape result = call.shape(0);
  call.expect_length(repetitions, result.size(), "repetitions");
  call.expect_positive(repetitions, "repetitions");
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (repetitions[i] == 1) continue;
    result[i] = is_symbol(result[i])
                    ? derived
                    : call.expect_dimension(std::uint64_t{result[i]} * repetitions[i],
                                            "dimension " + std::to_string(i) + " of the result");
  }
  return {result};
}

}  // namespace polychron::ops
