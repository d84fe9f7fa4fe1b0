#include "kernels/cpu/passes/integer_difference.hpp"

#include "kernels/integer_product.hpp"

namespace polychron::kernels {
namespace {

/// The operand of a cast from 8 bits to int32.
std::optional<ops::ValueId> widened(const Matcher& match, ops::ValueId value) {
  const PlanNode* const cast = match.made_by(value, ops::op("cast"));
  if (cast == nullptr || match.descriptor(value).data_type != DataType::int32) return std::nullopt;
  const bool fits = has_8_bits(match.descriptor(cast->inputs[0]).data_type);
  return fits ? std::optional(cast->inputs[0]) : std::nullopt;
}

}  // namespace

std::optional<Difference> difference_of(const Matcher& match, ops::ValueId value) {
  const PlanNode* const real = match.made_by(value, ops::op("cast"));
  if (real == nullptr || !match.is_float32(value)) return std::nullopt;
  const ops::ValueId whole = real->inputs[0];
  const PlanNode* const sub = match.made_by(whole, ops::op("sub"));
  if (sub == nullptr) {
    const auto x = widened(match, whole);
    return x ? std::optional(Difference{*x}) : std::nullopt;
  }
  const auto x = widened(match, sub->inputs[0]), zero = widened(match, sub->inputs[1]);
  const bool fits = x && zero &&
                    match.descriptor(*x).data_type == match.descriptor(*zero).data_type &&
                    match.descriptor(*x).shape == match.descriptor(whole).shape;
  return fits ? std::optional(Difference{*x, *zero}) : std::nullopt;
}

}  // namespace polychron::kernels
