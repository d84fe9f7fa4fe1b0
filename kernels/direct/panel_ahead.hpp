// Prefetches a panel from memory during the products with the panel before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace polychron::kernels::direct {

/// The floats of a line of the caches.
inline constexpr std::size_t line_floats = 16;

/// The elements that are multiplied between two prefetches.
inline constexpr std::size_t elements_at_once = 4;

/// The most bytes that a step declares as read first of its panels. Chosen, not tuned, as is the
/// number of lines below.
inline constexpr std::size_t most_read_first = 64 * 1024;

/// Memory to prefetch during a product, because hardware prefetchers do not foresee it.
struct Fetch {
  const float* from = nullptr;  ///< the lines in [from, end)
  const float* end = nullptr;
  std::size_t lines = 0;  ///< lines for each elements_at_once
};

/// Distributes the prefetches of a panel's lines over the products before it.
class PanelAhead {
 public:
  PanelAhead(const float* panel, std::size_t floats) : panel_(panel), end_(panel + floats) {}
  /// Takes the memory that the next step reads first (Bound::reads_first). That step's panels have
  /// another size, so the lines at once are limited, even if some are left over.
  explicit PanelAhead(std::span<const std::byte> of_next_step)
      : PanelAhead(reinterpret_cast<const float*>(of_next_step.data()),
                   of_next_step.size() / sizeof(float)) {
    most_lines_ = 4;
  }

  /// The share of `times` products, each of `fours` groups of four elements. `left` such products
  /// remain, including these.
  Fetch share(std::size_t fours, std::size_t times, std::size_t left) {
    const auto lines = static_cast<std::size_t>(end_ - panel_) / line_floats;
    if (lines == 0 || fours == 0) return {};
    const Fetch fetch{panel_, end_,
                      std::min((lines + fours * left - 1) / (fours * left), most_lines_)};
    panel_ += std::min(fetch.lines * fours * times, lines) * line_floats;
    return fetch;
  }

 private:
  const float* panel_;
  const float* end_;
  std::size_t most_lines_ = std::numeric_limits<std::size_t>::max();
};

/// Prefetches fetch.lines lines from `next` on. Call it once for each elements_at_once.
[[gnu::always_inline]] inline void fetch_lines(const float*& next, const Fetch& fetch) {
  for (std::size_t i = fetch.lines; i > 0 && next < fetch.end; --i, next += line_floats)
    __builtin_prefetch(next, 0, 2);  // into the second level
}

}  // namespace polychron::kernels::direct
