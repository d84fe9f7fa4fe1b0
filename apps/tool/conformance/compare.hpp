// The distance between two tensors of numbers, and the element where it is largest.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "polychron/data_type.hpp"

namespace polychron::conformance {

struct Difference {
  double distance = 0;  ///< the largest, in the given metric; infinite if only one is NaN
  std::size_t element = 0;
  std::string actual, expected;  ///< of that element

  /// "element 3 is 1.5, expected 1.25".
  std::string text() const;
};

/// Tells if 0 and -0 are the same number.
enum class Zeros { alike, signed_ };

/// The distance of `actual` from the "data" of a case's operand. Metric "ULP": ranks among all
/// values of the type. Metric "ATOL": absolute difference from the written number. Zeros of
/// different signs are infinitely far from each other if zeros are signed.
Difference compare(std::span<const std::byte> actual, const nlohmann::json& operand,
                   const std::string& metric, Zeros zeros = Zeros::alike);

/// The distance of `actual` from `expected`, both elements of `type`, as in NumPy's allclose: the
/// absolute difference divided by `absolute` + `relative` * |expected|. So 1 is just allowed.
/// Integers are compared exactly: their distance is 0 or infinite.
Difference compare_close(std::span<const std::byte> actual, std::span<const std::byte> expected,
                         DataType type, double relative, double absolute);

/// The size of the largest finite element; 0 if there is none, and for integers.
double largest_of(std::span<const std::byte> data, DataType type);

}  // namespace polychron::conformance
