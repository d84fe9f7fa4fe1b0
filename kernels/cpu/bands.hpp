// Successive convolutions computed in bands of rows, so that each finds the previous result in the
// cache.
//
// A depthwise convolution reads as much as it computes, and the convolution before it has just
// written what it reads. Computed whole, a large picture goes to memory, or to another core, and
// comes back. In bands each convolution computes only the rows that the next one needs for a band
// of the last result. Rows at the edge of a band are computed for both neighbours. (Fused layers:
// Alwani et al. 2016, Fused-Layer CNN Accelerators.)
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// Rows [begin, end).
struct Rows {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t count() const noexcept { return end - begin; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// A convolution's share of a band.
struct BandLink {
  Rows in, out;     ///< of its picture and of its result
  Problem problem;  ///< computes them, dense; padded only at the picture's edge
};

/// The shares of all convolutions, in order.
using Band = std::vector<BandLink>;

/// True if a convolution's result can be computed row by row. It has one picture, with the channels
/// in front, and a constant filter. Operands of post-operations have the result's rows, or are the
/// same for all rows.
bool has_rows(const Problem& problem);

/// True if the operand `input` of a post-operation has its own elements for each row.
bool follows_rows(const Problem& problem, std::size_t input);

/// True if a picture's rows are contiguous: it has one plane of channels, without padding.
bool has_dense_rows(const Slot& slot);

/// Divides the convolutions `links` into `count` bands of rows of the last result. Each link has
/// rows, and its result is the next one's picture. `count` is at most the number of these rows.
/// Empty if a band needs no row of a picture.
std::vector<Band> bands_of(std::span<const Problem> links, std::size_t count);

/// The best number of bands, by the shapes alone. 0 if bands gain nothing: the pictures between are
/// small, or the repeated rows and the copying of rows would be much of the work.
std::size_t best_count(std::span<const Problem> links);

}  // namespace polychron::kernels
