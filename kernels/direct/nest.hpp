// Loops over a result and its operands: over rows, made as long as possible, and the dimensions
// around them.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "kernels/strides.hpp"

namespace polychron::kernels::direct {

/// The dimensions of a result, with the strides of N operands along them. Merges neighbouring
/// dimensions along which all operands advance evenly, and drops those of extent 1.
template <std::size_t N>
class Nest {
 public:
  using Steps = std::array<std::int64_t, N>;
  struct Dimension {
    std::int64_t count = 1;
    Steps steps{};
  };

  Nest(const Shape& shape, const std::array<Strides, N>& strides) {
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (shape[i] == 1) continue;
      Dimension next{shape[i], {}};
      for (std::size_t k = 0; k < N; ++k) next.steps[k] = strides[k][i];
      if (!dimensions_.empty() && goes_on(dimensions_.back(), next))
        dimensions_.back().count *= next.count;
      else
        dimensions_.push_back(next);
    }
    if (dimensions_.empty()) dimensions_.push_back({});
  }

  /// Innermost first; at least one.
  const std::vector<Dimension>& dimensions() const { return dimensions_; }

  /// Calls f(offsets, out) for each index of the dimensions from number `first` on. `offsets` are
  /// those of the index in the operands; `out` is the number of indices before it.
  template <class F>
  void each(std::size_t first, const F& f) const {
    std::array<std::int64_t, max_rank> at{};
    Steps offsets{};
    for (std::int64_t index = 0;; ++index) {
      f(offsets, index);
      std::size_t i = first;
      for (; i < dimensions_.size(); ++i) {
        const auto& [count, steps] = dimensions_[i];
        const bool more = ++at[i] < count;
        for (std::size_t k = 0; k < N; ++k) offsets[k] += more ? steps[k] : steps[k] * (1 - count);
        if (more) break;
        at[i] = 0;
      }
      if (i >= dimensions_.size()) return;
    }
  }
  /// Calls f(offsets, out) for each row of the innermost dimension, with its offsets in the
  /// operands and in the result.
  template <class F>
  void each_row(const F& f) const {
    const std::int64_t length = dimensions_.front().count;
    each(1, [&](const Steps& offsets, std::int64_t row) { f(offsets, row * length); });
  }

 private:
  static bool goes_on(const Dimension& inner, const Dimension& outer) {
    for (std::size_t k = 0; k < N; ++k)
      if (outer.steps[k] != inner.steps[k] * inner.count) return false;
    return true;
  }

  std::vector<Dimension> dimensions_;
};

/// A row of an operand that broadcasts: contiguous elements, or one element for all.
template <class T, bool Same>
class Row {
 public:
  explicit Row(const T* elements) : elements_(elements), first_(*elements) {}
  T operator[](std::int64_t i) const { return Same ? first_ : elements_[i]; }

 private:
  const T* elements_;
  T first_;  ///< read before the loop writes anything
};

/// Calls f(Row) for the row at `elements`, with a stride of `step`: 0 or 1.
template <class T, class F>
void with_row(const T* elements, std::int64_t step, const F& f) {
  if (step == 0)
    f(Row<T, true>(elements));
  else
    f(Row<T, false>(elements));
}

}  // namespace polychron::kernels::direct
