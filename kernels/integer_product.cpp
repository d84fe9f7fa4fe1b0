#include "kernels/integer_product.hpp"

#include <algorithm>
#include <cmath>

#include "ops/table.hpp"

namespace polychron::kernels {
namespace {

/// The number of zero points if those of `shape` repeat along the rows of `rows`: one for all, or
/// one for each row of the last dimensions.
std::optional<std::size_t> repeating_zeros(const Shape& shape, const Shape& rows) {
  if (*element_count(shape) == 1) return 1;
  if (shape.size() > rows.size() || shape.back() != 1) return std::nullopt;
  const auto first = std::ranges::find_if(shape, [](std::uint32_t n) { return n != 1; });
  if (!std::equal(first, shape.end() - 1, rows.end() - (shape.end() - first))) return std::nullopt;
  return *element_count(shape);
}

std::optional<IntegerOperands::ForColumns> for_columns(const Problem& problem,
                                                       std::uint32_t input) {
  const Slot& slot = problem.inputs[input];
  const Shape &shape = slot.descriptor.shape, &result = problem.outputs[0].descriptor.shape;
  const auto count = *element_count(shape);
  // A scale may have one number for some columns.
  if (slot.descriptor.data_type != DataType::float32 || !slot.lies_plain() ||
      shape.size() > result.size() ||
      (count != 1 && (count != shape.back() || count != result.back())))
    return std::nullopt;
  return IntegerOperands::ForColumns{input, count == 1};
}

/// Reads scale and zero point of a quantization, which ends a product.
bool take_quantization(const Problem& problem, const PostOp& post, IntegerOperands& o) {
  const auto scales = for_columns(problem, post.operands[0]);
  const Slot &scale = problem.inputs[post.operands[0]], &zero = problem.inputs[post.operands[1]];
  if (!scales || !has_8_bits(zero.descriptor.data_type) || !zero.lies_plain() ||
      zero.descriptor.shape != scale.descriptor.shape)
    return false;
  o.scales = *scales;
  o.zeros = post.operands[1];
  o.result = zero.descriptor.data_type;
  return true;
}

/// Reads a factor, a summand and a quantization, in this order. Each may be absent.
bool take_post_ops(const Problem& problem, IntegerOperands& o) {
  auto next = problem.post_ops.begin();
  const auto last = problem.post_ops.end();
  const auto is_next = [&](std::string_view name, std::size_t operands) {
    return next != last && operator_name(next->op) == name && next->operands.size() == operands;
  };
  if (is_next("linear", 0)) {
    const auto& a = std::get<LinearAttributes>(next->attributes);
    // Adding +0 would change -0.
    if (a.beta != 0 || !std::signbit(a.beta)) return false;
    o.factor = static_cast<float>(a.alpha);
    ++next;
  } else if (is_next("mul", 1)) {
    const auto factors = for_columns(problem, next->operands[0]);
    if (!factors) return false;
    o.factors = *factors;
    ++next;
  }
  if (is_next("add", 1)) {
    const auto summands = for_columns(problem, next->operands[0]);
    if (!summands) return false;
    o.summands = *summands;
    ++next;
  }
  if (is_next("quantizeLinear", 2)) {
    if (!take_quantization(problem, *next, o)) return false;
    ++next;
  }
  return next == last;
}

}  // namespace

std::optional<IntegerOperands> integer_operands(const Problem& problem) {
  if (problem.op != op_integer_product) return std::nullopt;
  const Slot &left = problem.inputs[0], &right = problem.inputs[1], &result = problem.outputs[0];
  const Slot &left_zero = problem.inputs[2], &right_zero = problem.inputs[3];
  const DataType left_type = left.descriptor.data_type, right_type = right.descriptor.data_type;
  const Shape &rows = left.descriptor.shape, &matrix = right.descriptor.shape;
  const auto zero_fits = [](const Slot& zero, DataType type) {
    return !zero.present || (zero.descriptor.data_type == type && zero.lies_plain());
  };
  if (!has_8_bits(left_type) || !has_8_bits(right_type) || !zero_fits(left_zero, left_type) ||
      !zero_fits(right_zero, right_type) || !left.lies_plain() || !result.lies_plain() ||
      !right.constant || (right_zero.present && !right_zero.constant))
    return std::nullopt;
  if (rows.size() < 2 || matrix.size() != 2 || matrix[0] != rows.back() ||
      rows.back() > most_integer_elements)
    return std::nullopt;
  const auto right_zeros = right_zero.present ? *element_count(right_zero.descriptor.shape) : 1;
  const auto left_zeros = left_zero.present ? repeating_zeros(left_zero.descriptor.shape, rows) : 1;
  if (!left_zeros || (right_zeros != 1 && right_zeros != matrix[1])) return std::nullopt;
  IntegerOperands o{.rows = *element_count(rows) / rows.back(),
                    .elements = rows.back(),
                    .columns = matrix[1],
                    .left_signed = left_type == DataType::int8,
                    .right_signed = right_type == DataType::int8,
                    .row_zeros = *left_zeros,
                    .one_zero = right_zeros == 1,
                    .result = result.descriptor.data_type};
  if (o.result == DataType::int32 && !problem.post_ops.empty()) return std::nullopt;
  return take_post_ops(problem, o) ? std::optional(o) : std::nullopt;
}

}  // namespace polychron::kernels
