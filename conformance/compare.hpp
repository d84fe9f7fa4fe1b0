// How far two tensors of numbers are apart, and where most.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "polychron/data_type.hpp"

namespace polychron::conformance {

struct Difference {
  double distance = 0;  ///< the largest, in the metric asked for; infinite if only one is NaN
  std::size_t element = 0;
  std::string actual, expected;  ///< that element

  /// "element 3 is 1.5, expected 1.25".
  std::string text() const;
};

/// Whether 0 and -0 are the same number.
enum class Zeros { alike, signed_ };

/// How far `actual` is from the "data" of a case's operand. Metric "ULP": places in the order of
/// all values of the type; "ATOL": absolute difference from the number as written. Zeros of
/// different signs are infinitely far from each other if zeros are signed.
Difference compare(std::span<const std::byte> actual, const nlohmann::json& operand,
                   const std::string& metric, Zeros zeros = Zeros::alike);

/// How far `actual` is from `expected`, both elements of `type`, as NumPy's allclose has it: the
/// absolute difference divided by `absolute` + `relative` * |expected|, so that 1 is just allowed.
/// Integers are compared exactly: their distance is 0 or infinite.
Difference compare_close(std::span<const std::byte> actual, std::span<const std::byte> expected,
                         DataType type, double relative, double absolute);

}  // namespace polychron::conformance
