// Loops over elements that are float16 or float32, with conversions chosen by the element's type.
#pragma once

#include <type_traits>

#include "polychron/data_type.hpp"

namespace polychron::kernels {

inline float to_float(float16 value) noexcept { return static_cast<float>(value); }
inline float to_float(float value) noexcept { return value; }

template <class T>
T from_float(float value) noexcept {
  if constexpr (std::is_same_v<T, float16>)
    return float16(value);
  else
    return value;
}

}  // namespace polychron::kernels
