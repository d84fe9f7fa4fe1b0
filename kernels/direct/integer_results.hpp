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

/// x / scale + zero, rounded, in the range of int8 or of uint8. NaN becomes 0, whatever `zero` is.
HWY_INLINE hn::Vec<Sums> quantized(hn::Vec<Reals> x, hn::Vec<Reals> scale, hn::Vec<Sums> zero,
                                   bool is_signed) {
  const Sums d;
  const Reals real;
  const auto steps = hn::Div(x, scale);
  const auto reach = hn::Set(real, 0x1p20F);  // conversions are exact up to here
  const auto bounded = hn::Max(hn::Min(steps, reach), hn::Neg(reach));
  const auto shifted = hn::Add(hn::NearestInt(bounded), zero);
  const auto result = hn::Min(hn::Max(shifted, hn::Set(d, is_signed ? -128 : 0)),
                              hn::Set(d, is_signed ? 127 : 255));
  return hn::IfThenElse(hn::RebindMask(d, hn::Eq(steps, steps)), result, hn::Zero(d));
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
