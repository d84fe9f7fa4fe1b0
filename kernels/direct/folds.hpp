// The folds of reductions and pooling. A fold has an accumulator with an initial value and three
// functions. They join an element, merge two accumulators, and make the result.
//
// Floats are float32, and are added and multiplied in double, so that nothing overflows before a
// result that fits. Integers wrap around; signed ones are added and multiplied as unsigned ones.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace polychron::kernels::direct {

template <class T>
using Summed = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <class T>
struct Sum {
  using Accumulator = Summed<T>;
  static Accumulator first() { return 0; }
  static Accumulator join(Accumulator sum, T x) { return sum + Accumulator{x}; }
  static Accumulator merge(Accumulator a, Accumulator b) { return a + b; }
  static void finish(Accumulator sum, double, T& out) { out = static_cast<T>(sum); }
};
/// Reads signed integers as unsigned ones; the highest bit is the sign.
template <class T>
struct Magnitudes : Sum<T> {
  using A = Summed<T>;
  static A join(A sum, T x) {
    if constexpr (std::is_same_v<T, float>)
      return sum + std::abs(A{x});
    else
      return x > std::numeric_limits<T>::max() / 2 ? sum - x : sum + x;
  }
};
template <class T>
struct Squares : Sum<T> {
  using A = Summed<T>;
  static A join(A sum, T x) { return sum + A{x} * A{x}; }
};
struct Norm : Squares<float> {
  static void finish(double sum, double, float& out) { out = static_cast<float>(std::sqrt(sum)); }
};
struct Mean : Sum<float> {
  static void finish(double sum, double count, float& out) {
    out = count == 0 ? 0 : static_cast<float>(sum / count);
  }
};
struct Logarithm : Sum<float> {
  static void finish(double sum, double, float& out) { out = static_cast<float>(std::log(sum)); }
};
template <class T>
struct Product {
  using Accumulator = Summed<T>;
  static Accumulator first() { return 1; }
  static Accumulator join(Accumulator product, T x) { return product * Accumulator{x}; }
  static Accumulator merge(Accumulator a, Accumulator b) { return a * b; }
  static void finish(Accumulator product, double, T& out) { out = static_cast<T>(product); }
};

/// The largest or the smallest element. NaN wins over every number.
template <class T, bool largest>
struct Extreme {
  using Accumulator = T;
  using Limits = std::numeric_limits<T>;
  static T first() {
    if constexpr (Limits::has_infinity)
      return largest ? -Limits::infinity() : Limits::infinity();
    else
      return largest ? Limits::min() : Limits::max();
  }
  static T join(T a, T b) { return merge(a, b); }
  static T merge(T a, T b) {
    const T beyond = (largest ? a < b : b < a) ? b : a;
    return b != b ? b : beyond;
  }
  static void finish(T value, double, T& out) { out = value; }
};

}  // namespace polychron::kernels::direct
