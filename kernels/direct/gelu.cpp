#include "kernels/direct/gelu.hpp"

#include <cmath>
#include <numbers>

namespace polychron::kernels::direct {
namespace {

using Powers = std::array<double, NormalTail::powers>;

/// The polynomial in t that interpolates `f` at Chebyshev points of [0, 1]: Newton's divided
/// differences, multiplied out.
template <class F>
Powers interpolated(const F& f) {
  constexpr std::size_t count = NormalTail::powers;
  Powers at, differences;
  for (std::size_t i = 0; i < count; ++i) {
    at[i] = 0.5 - 0.5 * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / count);
    differences[i] = f(at[i]);
  }
  for (std::size_t order = 1; order < count; ++order)
    for (std::size_t i = count; i-- > order;)
      differences[i] = (differences[i] - differences[i - 1]) / (at[i] - at[i - order]);
  Powers powers{};
  for (std::size_t i = count; i-- > 0;) {  // Horner's scheme with (t - at[i])
    for (std::size_t k = count; k-- > 0;)
      powers[k] = (k > 0 ? powers[k - 1] : 0.0) - at[i] * powers[k];
    powers[0] += differences[i];
  }
  return powers;
}

NormalTail made() {
  NormalTail tail;
  constexpr double stretch = double{NormalTail::end} / NormalTail::stretches;
  for (std::size_t i = 0; i < NormalTail::stretches; ++i) {
    const Powers powers = interpolated([i](double t) {
      return 0.5 * std::erfc((static_cast<double>(i) + t) * stretch / std::numbers::sqrt2);
    });
    for (std::size_t k = 0; k < NormalTail::powers; ++k)
      tail.factors[k][i] = static_cast<float>(powers[k]);
  }
  return tail;
}

}  // namespace

const NormalTail& NormalTail::get() {
  static const NormalTail tail = made();
  return tail;
}

}  // namespace polychron::kernels::direct
