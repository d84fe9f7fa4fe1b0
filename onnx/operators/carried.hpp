// Types that WebNN does not have, carried in types that it has.
#pragma once

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// `x`, calculated in int32, as the 16-bit or 4-bit integer of the model: values that do not fit
/// wrap around. Other types are unchanged.
inline Term wrapped(const Term& x, ElementType type) {
  const bool wide = type == ElementType::int16 || type == ElementType::uint16;
  if (!wide && !is_packed(type)) return x;
  const int count = wide ? 65536 : 16;      // number of values of the type
  const auto rest = x - x / count * count;  // with the sign of x
  const bool is_signed = type == ElementType::int16 || type == ElementType::int4;
  const auto low = (rest < (is_signed ? -count / 2 : 0)).choose(rest + count, rest);
  return is_signed ? (low > count / 2 - 1).choose(low - count, low) : low;
}

}  // namespace polychron::onnx::detail
