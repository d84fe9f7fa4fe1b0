// The numbers of generated calls: ordinary ones in the operator's range, and special ones (NaN,
// infinities, -0, subnormal numbers, the ends of an integer's range).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/row.hpp"
#include "tests/ops/random.hpp"

namespace polychron::tests {

/// Kinds of special numbers, as bits.
enum Special : unsigned {
  no_special = 0,
  nan = 1,
  infinity = 2,
  minus_infinity = 4,
  zero = 8,        ///< of both signs
  subnormal = 16,  ///< floats below the smallest normal one
  huge = 32,       ///< the largest and the lowest finite float
  extreme = 64,    ///< the ends of an integer's range
  every_special = 127,
};
inline constexpr unsigned infinities = infinity | minus_infinity;

/// "NaN, -infinity".
std::string names_of(unsigned specials);
/// The special numbers that occur in an operand.
unsigned specials_in(const OperandDescriptor& descriptor, const std::vector<std::byte>& bytes);

/// An implementation whose results with these special numbers are not compared, and the reason. It
/// runs with them all the same. Every exception needs a line of this kind.
struct Exemption {
  std::string_view row;
  std::string_view implementation;
  unsigned specials;
  std::string_view why;
};
const std::vector<Exemption>& exemptions();
/// The special numbers with which `implementation` is not compared; "": with which any is not.
unsigned exempt(const ops::Row& row, std::string_view implementation = {});

/// The range of the ordinary numbers of operand `index`.
struct Range {
  double low = -2, high = 2;
};
Range range_of(const ops::Row& row, std::size_t index);

/// The bytes of an operand. `specials`: which special numbers occur, here and there.
std::vector<std::byte> number_bytes(const OperandDescriptor& descriptor, const Range& range,
                                    unsigned specials, test::Random& random);

/// Numbers that count along `extent` elements: from both ends, and some out of range.
std::vector<std::byte> index_bytes(const OperandDescriptor& descriptor, std::uint32_t extent,
                                   test::Random& random);

}  // namespace polychron::tests
