// Types that WebNN has not, carried in types that it has.
#pragma once

#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

/// `x`, calculated in int32, as the 16-bit integer that the model means: what does not fit wraps
/// around. Other types are left alone.
inline Term wrapped(const Term& x, ElementType type) {
  const bool is_signed = type == ElementType::int16;
  if (!is_signed && type != ElementType::uint16) return x;
  const auto rest = x - x / 65536 * 65536;  // with the sign of x
  const auto low = (rest < (is_signed ? -32768 : 0)).choose(rest + 65536, rest);
  return is_signed ? (low > 32767).choose(low - 65536, low) : low;
}

}  // namespace polychron::onnx::detail
