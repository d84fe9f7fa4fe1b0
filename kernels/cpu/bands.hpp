// Convolutions one after the other in bands of rows: what one leaves the next finds in the cache.
//
// A depthwise convolution reads as much as it computes, and what it reads has just been written by
// the one before it. Computed whole, large pictures go to memory, or to another core, and come back
// between two of them. In bands each convolution computes only the rows that the next one needs for
// a band of the last one's result; rows at the edge of a band are computed for both its neighbours.
// (Fused layers: Alwani et al. 2016, Fused-Layer CNN Accelerators.)
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// Rows `begin` to `end`, without the last.
struct Rows {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t count() const noexcept { return end - begin; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// A convolution's share of a band.
struct BandLink {
  Rows in, out;     ///< of its picture and of its result
  Problem problem;  ///< what computes them, dense: the picture's edge is padded, no other one
};

/// The shares of all convolutions, in their order.
using Band = std::vector<BandLink>;

/// Whether a convolution's result can be computed row by row: of one picture, its channels in
/// front, with a constant filter; what post-operations add has its rows, or the same for all.
bool has_rows(const Problem& problem);

/// Whether the operand `input` of a post-operation has its own elements for each row.
bool follows_rows(const Problem& problem, std::size_t input);

/// Whether a picture's rows lie one after the other: it has one plane of channels, which is full.
bool has_dense_rows(const Slot& slot);

/// The convolutions `links`, each with rows and each the next one's picture, in `count` bands of
/// the last one's result, which has as many rows. Empty if some band needs no row of a picture.
std::vector<Band> bands_of(std::span<const Problem> links, std::size_t count);

/// In how many bands they are best computed, by their shapes alone: 0 if together they gain
/// nothing, because little lies between them, or because the edges of bands and the way of rows
/// into bands and out of them would be much of the work.
std::size_t best_count(std::span<const Problem> links);

}  // namespace polychron::kernels
