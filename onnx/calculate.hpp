// Arithmetic on literals, for values that models calculate from shapes. It runs at import.
//
// Integers are calculated in 64 bits and wrap around, reals in double precision; the result is
// rounded to the operands' type, which makes single operations in float32 exact to the last bit.
#pragma once

#include <cstdint>
#include <optional>

#include "onnx/literal.hpp"

namespace polychron::onnx::detail {

/// A function of two numbers; a null pointer means no function for that kind of number.
struct Binary {
  std::int64_t (*integer)(std::int64_t, std::int64_t) = nullptr;
  double (*real)(double, double) = nullptr;
  bool boolean_result = false;
};

/// A function of one number, with the same rule.
struct Unary {
  std::int64_t (*integer)(std::int64_t) = nullptr;
  double (*real)(double) = nullptr;
};

/// The result, with numpy's broadcasting. nullopt if an operand is null or not calculable, if there
/// is no such function, or if the result is too large. Throws if types or shapes do not match.
std::optional<Literal> calculate(const Binary& function, const Literal* a, const Literal* b);
std::optional<Literal> calculate(const Unary& function, const Literal* a);

/// Folds the elements along `axes` (every one, if empty) with `function`; `keep` leaves dimensions
/// of 1.
std::optional<Literal> reduce(const Binary& function, const Literal* a,
                              const std::vector<std::uint32_t>& axes, bool keep);

}  // namespace polychron::onnx::detail
