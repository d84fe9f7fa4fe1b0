// A panel on its way from memory while products with the one before it are computed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "kernels/direct/wide.hpp"

#ifdef POLYCHRON_WIDE

namespace polychron::kernels::direct {

/// Elements that are multiplied between two looks at what is to be fetched.
inline constexpr std::size_t elements_at_once = 4;

/// What a step reads first of its panels, at most. Chosen, not tuned, as is the number of lines
/// below.
inline constexpr std::size_t most_read_first = 64 * 1024;

/// What a product has on its way from memory while it is computed: no processor guesses these.
struct Fetch {
  const float* from = nullptr;  ///< up to ...
  const float* end = nullptr;
  std::size_t lines = 0;  ///< ... so many lines for each elements_at_once
};

/// Hands out a panel's lines to the products that are computed before it is needed.
class PanelAhead {
 public:
  PanelAhead(const float* panel, std::size_t floats) : panel_(panel), end_(panel + floats) {}
  /// What the next step reads first (Bound::reads_first). That step's panels have another size: not
  /// more than some lines at once, whatever is left then.
  explicit PanelAhead(std::span<const std::byte> of_next_step)
      : PanelAhead(reinterpret_cast<const float*>(of_next_step.data()),
                   of_next_step.size() / sizeof(float)) {
    most_lines_ = 4;
  }

  /// The share of `times` products of so many fours of elements, where `left` products like them
  /// are left to be computed, these among them.
  Fetch share(std::size_t fours, std::size_t times, std::size_t left) {
    const auto lines = static_cast<std::size_t>(end_ - panel_) / wide_floats;
    if (lines == 0 || fours == 0) return {};
    const Fetch fetch{panel_, end_,
                      std::min((lines + fours * left - 1) / (fours * left), most_lines_)};
    panel_ += std::min(fetch.lines * fours * times, lines) * wide_floats;
    return fetch;
  }

 private:
  const float* panel_;
  const float* end_;
  std::size_t most_lines_ = std::numeric_limits<std::size_t>::max();
};

/// Once for each elements_at_once: fetches so many lines from `next` on.
[[gnu::always_inline]] inline void fetch_lines(const float*& next, const Fetch& fetch) {
  for (std::size_t i = fetch.lines; i > 0 && next < fetch.end; --i, next += wide_floats)
    _mm_prefetch(reinterpret_cast<const char*>(next), _MM_HINT_T1);
}

}  // namespace polychron::kernels::direct

#endif
