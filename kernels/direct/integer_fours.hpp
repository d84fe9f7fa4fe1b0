// Instructions that multiply bytes and add four neighbours' products. Included once for each of
// Highway's targets.
#if defined(POLYCHRON_INTEGER_FOURS) == defined(HWY_TARGET_TOGGLE)
#ifdef POLYCHRON_INTEGER_FOURS
#undef POLYCHRON_INTEGER_FOURS
#else
#define POLYCHRON_INTEGER_FOURS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/direct/integer_results.hpp"
#include "kernels/processor.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR
using Halves = hn::Repartition<std::int16_t, Sums>;
#endif

/// Products of bytes of data with bytes of weights are added in pairs of 16 bits: 255 times the sum
/// of two weights' magnitudes fits. 0 where there is no such instruction.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSSE3
constexpr std::int32_t most_narrow_sum = 128;

HWY_INLINE hn::Vec<Halves> pair_sums(hn::Vec<Sums> data, hn::Vec<Sums> weights) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<Halves>{_mm512_maddubs_epi16(data.raw, weights.raw)};
#elif HWY_TARGET <= HWY_AVX2
  return hn::Vec<Halves>{_mm256_maddubs_epi16(data.raw, weights.raw)};
#else
  return hn::Vec<Halves>{_mm_maddubs_epi16(data.raw, weights.raw)};
#endif
}

HWY_INLINE void add_pair_sums(hn::Vec<Halves> pairs, hn::Vec<Sums>& sums) {
  auto none = hn::Zero(Sums());
  auto sum = hn::ReorderWidenMulAccumulate(Sums(), pairs, hn::Set(Halves(), 1), sums, none);
  POLYCHRON_KEEP_SUM(sum);
  sums = sum;
}

/// Adds four products of bytes to each sum, or two times four.
struct ByPairSums {
  static HWY_INLINE void add(hn::Vec<Sums> data, hn::Vec<Sums> weights, hn::Vec<Sums>& sums) {
    add_pair_sums(pair_sums(data, weights), sums);
  }
  static HWY_INLINE void add(hn::Vec<Sums> data, hn::Vec<Sums> weights, hn::Vec<Sums> other_data,
                             hn::Vec<Sums> other_weights, hn::Vec<Sums>& sums) {
    add_pair_sums(hn::Add(pair_sums(data, weights), pair_sums(other_data, other_weights)), sums);
  }
};
#else
constexpr std::int32_t most_narrow_sum = 0;
#endif

/// The instruction of has_four_products(). Highway 1.0.3 does not have it.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
HWY_INLINE void add_four_products(hn::Vec<Sums> data, hn::Vec<Sums> weights, hn::Vec<Sums>& sums) {
#if HWY_TARGET <= HWY_AVX3
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(data.raw), "v"(weights.raw));
#else
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(data.raw), "x"(weights.raw));
#endif
}
#elif HWY_ARCH_ARM_A64
HWY_INLINE void add_four_products(hn::Vec<Sums> data, hn::Vec<Sums> weights, hn::Vec<Sums>& sums) {
  asm(".arch armv8.2-a+crypto+dotprod\n\tsdot %0.4s, %1.16b, %2.16b"
      : "+w"(sums.raw)
      : "w"(data.raw), "w"(weights.raw));
}
#else
HWY_INLINE void add_four_products(hn::Vec<Sums>, hn::Vec<Sums>, hn::Vec<Sums>&) {}
#endif

struct ByFours {
  static HWY_INLINE void add(hn::Vec<Sums> data, hn::Vec<Sums> weights, hn::Vec<Sums>& sums) {
    add_four_products(data, weights, sums);
  }
  static HWY_INLINE void add(hn::Vec<Sums> data, hn::Vec<Sums> weights, hn::Vec<Sums> other_data,
                             hn::Vec<Sums> other_weights, hn::Vec<Sums>& sums) {
    add_four_products(data, weights, sums);
    add_four_products(other_data, other_weights, sums);
  }
};

/// Bytes of data, as the instructions take them. Those of weights are signed.
using DataByte = std::conditional_t<HWY_ARCH_ARM_A64 != 0, std::int8_t, std::uint8_t>;

/// What makes bytes of data such bytes.
inline std::int32_t offset_of_bytes(bool are_signed) {
  if (are_signed == std::is_signed_v<DataByte>) return 0;
  return are_signed ? 128 : -128;
}

inline std::int32_t narrow_sum() { return has_four_products() ? 2 * 128 : most_narrow_sum; }

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
