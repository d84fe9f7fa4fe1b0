// Sums of 8-bit integers as they are stored: in 32 bits, or quantized to 8 bits again. Included
// once for each of Highway's targets.
#if defined(POLYCHRON_INTEGER_RESULTS) == defined(HWY_TARGET_TOGGLE)
#ifdef POLYCHRON_INTEGER_RESULTS
#undef POLYCHRON_INTEGER_RESULTS
#else
#define POLYCHRON_INTEGER_RESULTS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "polychron/data_type.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Sums = hn::ScalableTag<std::int32_t>;
using Reals = hn::RebindToFloat<Sums>;

/// How sums become results: times a factor, plus a summand, perhaps within bounds. Those of 8 bits
/// are then divided by a scale, rounded, and a zero point is added.
struct Ending {
  DataType type = DataType::int32;
  bool is_bounded = false;
  hn::Vec<Reals> lowest = hn::Zero(Reals()), highest = hn::Zero(Reals());
  hn::Vec<Reals> factor = hn::Zero(Reals()), summand = hn::Zero(Reals());
  hn::Vec<Reals> scale = hn::Zero(Reals());
  hn::Vec<Sums> zero = hn::Zero(Sums());
};

/// The result in 32 bits. That of 8 bits may lie beyond their range: store_results() saturates. NaN
/// becomes 0, whatever the zero point is.
HWY_INLINE hn::Vec<Sums> finished(const Ending& ending, hn::Vec<Sums> sum) {
  const Sums d;
  const Reals real;
  if (ending.type == DataType::int32) return sum;
  auto x = hn::Add(hn::Mul(hn::ConvertTo(real, sum), ending.factor), ending.summand);
  if (ending.is_bounded) {
    x = hn::IfThenElse(hn::Lt(x, ending.lowest), ending.lowest, x);  // keeps NaN
    x = hn::IfThenElse(hn::Gt(x, ending.highest), ending.highest, x);
  }
  if (ending.type == DataType::float32) return hn::BitCast(d, x);
  const auto steps = hn::Div(x, ending.scale);
  const auto bounded = hn::Max(steps, hn::Set(real, -0x1p20F));
  // Of a float32 between 2^23 and 2^24, the last bit is one: the addition rounds. The bits of
  // larger ones are larger integers.
  constexpr std::int32_t bits = 0x4b400000;  // of 1.5 * 2^23
  const auto rounded = hn::BitCast(d, hn::Add(bounded, hn::Set(real, 0x1.8p23F)));
  const auto result = hn::Add(rounded, hn::Sub(ending.zero, hn::Set(d, bits)));
  return hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(steps, steps)), result);
}

/// Stores a vector of results in their type, of 8 or of 32 bits.
HWY_INLINE void store_results(DataType type, hn::Vec<Sums> results, std::byte* to) {
  const Sums d;
  if (type == DataType::uint8) {
    const hn::Rebind<std::uint8_t, Sums> small;
    hn::StoreU(hn::DemoteTo(small, results), small, reinterpret_cast<std::uint8_t*>(to));
  } else if (type == DataType::int8) {
    const hn::Rebind<std::int8_t, Sums> small;
    hn::StoreU(hn::DemoteTo(small, results), small, reinterpret_cast<std::int8_t*>(to));
  } else {
    hn::StoreU(results, d, reinterpret_cast<std::int32_t*>(to));
  }
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
