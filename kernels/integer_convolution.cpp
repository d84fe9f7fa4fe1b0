#include "kernels/integer_convolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/epilogue.hpp"
#include "kernels/integer_product.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {
namespace {

using ops::op;

/// The number of elements if there is one for each filter, or one for all; else 0.
std::size_t count_for_filters(const Slot& slot, const Shape& result) {
  const Shape& shape = slot.descriptor.shape;
  const std::size_t count = *element_count(shape);
  if (!slot.lies_plain()) return 0;
  if (count == 1) return 1;
  const bool along = shape.size() >= 3 && shape.size() <= 4 && shape[shape.size() - 3] == count;
  return along && count == result[1] ? count : 0;
}

std::optional<IntegerConvolution::ForFilters> for_filters(const Problem& problem,
                                                          std::uint32_t input) {
  const Slot& slot = problem.inputs[input];
  const auto count = count_for_filters(slot, problem.outputs[0].descriptor.shape);
  if (count == 0 || slot.descriptor.data_type != DataType::float32) return std::nullopt;
  return IntegerConvolution::ForFilters{input, count == 1};
}

/// Reads scale and zero point of a quantization, which ends a convolution.
bool take_quantization(const Problem& problem, const PostOp& post, IntegerConvolution& c) {
  const auto scales = for_filters(problem, post.operands[0]);
  const Slot& zero = problem.inputs[post.operands[1]];
  if (!scales || !has_8_bits(zero.descriptor.data_type) || !zero.lies_plain() ||
      *element_count(zero.descriptor.shape) !=
          *element_count(problem.inputs[post.operands[0]].descriptor.shape))
    return false;
  c.scales = *scales;
  c.zeros = post.operands[1];
  c.result = zero.descriptor.data_type;
  return true;
}

/// Reads a factor, a summand, bounds and a quantization, in this order. Each may be absent.
bool take_post_ops(const Problem& problem, IntegerConvolution& c) {
  auto next = problem.post_ops.begin();
  const auto last = problem.post_ops.end();
  const auto is_next = [&](std::string_view name, std::size_t operands) {
    return next != last && operator_name(next->op) == name && next->operands.size() == operands;
  };
  if (is_next("linear", 0)) {
    const auto& a = std::get<LinearAttributes>(next->attributes);
    // Adding +0 would change -0.
    if (a.beta != 0 || !std::signbit(a.beta)) return false;
    c.factor = static_cast<float>(a.alpha);
    ++next;
  } else if (is_next("mul", 1)) {
    const auto factors = for_filters(problem, next->operands[0]);
    if (!factors) return false;
    c.factors = *factors;
    ++next;
  }
  if (is_next("add", 1)) {
    const auto summands = for_filters(problem, next->operands[0]);
    if (!summands) return false;
    c.summands = *summands;
    ++next;
  }
  if (is_next("relu", 0)) {
    c.lowest = 0;
    ++next;
  } else if (is_next("clamp", 0)) {
    const auto& a = std::get<ClampAttributes>(next->attributes);
    c.lowest = bound_of(a.min_value, c.lowest);
    c.highest = bound_of(a.max_value, c.highest);
    ++next;
  }
  if (is_next("quantizeLinear", 2)) {
    if (!take_quantization(problem, *next, c)) return false;
    ++next;
  }
  return next == last;
}

}  // namespace

std::optional<IntegerConvolution> integer_convolution(const Problem& problem) {
  if (problem.op != op_integer_convolution) return std::nullopt;
  const Slot &picture = problem.inputs[0], &filter = problem.inputs[1];
  const Slot &zero = problem.inputs[2], &bias = problem.inputs[3], &result = problem.outputs[0];
  const auto& a = std::get<Conv2dAttributes>(problem.attributes);
  const Shape &in = picture.descriptor.shape, &window = filter.descriptor.shape;
  if (in.size() != 4 || window.size() != 4 || result.descriptor.shape.size() != 4 ||
      !has_8_bits(picture.descriptor.data_type) || !filter.constant ||
      filter.descriptor.data_type != DataType::int32 || !picture.lies_plain() ||
      !filter.lies_plain() || !result.lies_plain() || a.input_layout != InputOperandLayout::nchw ||
      a.filter_layout != Conv2dFilterOperandLayout::oihw)
    return std::nullopt;
  if (zero.present && (zero.descriptor.data_type != picture.descriptor.data_type ||
                       *element_count(zero.descriptor.shape) != 1))
    return std::nullopt;
  if (bias.present && (bias.descriptor.data_type != DataType::int32 ||
                       count_for_filters(bias, result.descriptor.shape) == 0))
    return std::nullopt;
  if (std::uint64_t{window[1]} * window[2] * window[3] > most_integer_elements) return std::nullopt;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  IntegerConvolution c{.images = in[0],
                       .groups = a.groups,
                       .channels = window[1],
                       .filters = window[0] / a.groups,
                       .is_signed = picture.descriptor.data_type == DataType::int8,
                       .result = result.descriptor.data_type,
                       .lowest = -infinity,
                       .highest = infinity};
  if (c.result == DataType::int32 && !problem.post_ops.empty()) return std::nullopt;
  return take_post_ops(problem, c) ? std::optional(c) : std::nullopt;
}

}  // namespace polychron::kernels
