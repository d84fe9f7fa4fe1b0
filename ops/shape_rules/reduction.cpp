// Reductions and cumulative sums.
#include <algorithm>

#include "ops/call.hpp"
#include "ops/shape_rules.hpp"

namespace polychron::ops {

std::vector<Shape> reduce_shape(const Call& call) {
  const auto& [axes, keep_dimensions] = call.attributes<ReduceAttributes>();
  const Shape& input = call.shape(0);
  if (axes) call.expect_axes(*axes, input.size(), "axes");
  Shape result;
  for (std::uint32_t i = 0; i < input.size(); ++i) {
    const bool reduced = !axes || std::ranges::find(*axes, i) != axes->end();
    if (!reduced)
      result.push_back(input[i]);
    else if (keep_dimensions)
      result.push_back(1);
  }
  return {result};
}

// Every index fits, as dimensions are in the range of int32.
std::vector<Shape> arg_min_max_shape(const Call& call) {
  const auto& [axis, keep_dimensions, type] = call.attributes<ArgMinMaxAttributes>();
  Shape result = call.shape(0);
  call.expect_axis(axis, result.size());
  const TypeSet allowed = call.row().results()[0].types;
  if (!allowed.has(type))
    call.fail("outputDataType is " + std::string(to_string(type)) + ", expected " + allowed.text());
  if (keep_dimensions)
    result[axis] = 1;
  else
    result.erase(result.begin() + axis);
  return {result};
}

DataType arg_min_max_type(const Attributes& attributes) {
  return std::get<ArgMinMaxAttributes>(attributes).output_data_type;
}

std::vector<Shape> cumulative_sum_shape(const Call& call) {
  call.expect_axis(call.attributes<CumulativeSumAttributes>().axis, call.shape(0).size());
  return {call.shape(0)};
}

std::vector<Shape> top_k_shape(const Call& call) {
  const auto& [k, axis, largest] = call.attributes<TopKAttributes>();
  Shape result = call.shape(0);
  call.expect_axis(axis, result.size());
  if (k < 1 || k > result[axis])
    call.fail("k is " + std::to_string(k) + ", expected 1 to " + std::to_string(result[axis]));
  result[axis] = k;
  return {result};
}

}  // namespace polychron::ops
