// Convolutions of pictures in blocks of channels, in loops of our own: the kernel that takes
// one, random ones, and runs on memory in any place.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "polychron/attributes.hpp"
#include "tests/kernels/problems.hpp"
#include "tests/kernels/random.hpp"

namespace polychron::tests {

/// The problem with its pictures in blocks of channels.
kernels::Problem in_blocks(kernels::Problem problem);

/// The kernel of the first implementation that takes this in blocks of channels, or null.
std::unique_ptr<kernels::Kernel> first_kernel(const kernels::Problem& problem);
/// The way of the row that gives it; empty: a library's, or there is none.
std::string_view first_way(const kernels::Problem& problem);

/// True if it multiplies with panels of the filter.
bool takes_panels(const kernels::Problem& problem);

/// The longest strides that panels take on this processor: 1 or 2.
std::uint32_t panel_stride();

/// True if its loops are those for depthwise convolutions.
bool takes_depthwise(const kernels::Problem& problem);

/// Copies, to change some.
std::vector<Buffer> copies_of(const ProblemMaker& maker);

/// Results by the first implementation that takes it in blocks of channels; by the last, the
/// reference, if asked.
std::vector<double> results_of(const ProblemMaker& maker, const std::vector<Buffer>& values,
                               bool reference = false);

/// A plain picture's bytes in blocks of channels. The rest of the last block is zero.
Buffer blocked(const Shape& shape, const Buffer& plain);

/// A convolution's sizes and how it is computed.
struct Convolution {
  std::uint32_t batch = 1, in = 16, out = 32, height = 1, width = 1;
  std::uint32_t window_height = 1, window_width = 1;
  Conv2dAttributes a = {};

  Shape input() const { return {batch, in, height, width}; }
  /// In the layout that the attributes tell.
  Shape filter() const;
  /// With no rows or columns if the window is too large.
  Shape result() const;
  /// With a filter of random weights, and bias if asked.
  ProblemMaker maker(std::uint32_t seed, bool bias = false) const;
};

/// A depthwise one, padded by half the window as it is usual.
Convolution depthwise(std::uint32_t channels, std::uint32_t height, std::uint32_t width,
                      std::uint32_t window = 3, std::uint32_t stride = 1);

/// A small convolution for panels of the filter: different windows, steps, dilations and paddings,
/// channels that fill no block, with or without bias and post-operations.
ProblemMaker random_convolution(std::uint32_t seed);

/// A small depthwise convolution for our own loops, just as random.
ProblemMaker random_depthwise(std::uint32_t seed);

/// A function that bounds results, of those that are computed as they are stored.
void add_bounds(ProblemMaker& maker, Random& random);

/// A kernel and what it is given, as it lies in memory.
struct Prepared {
  explicit Prepared(const ProblemMaker& maker) : Prepared(maker, maker.values()) {}
  Prepared(const ProblemMaker& maker, const std::vector<Buffer>& values);

  std::size_t result_bytes() const;
  /// Addresses of the inputs; null if the kernel keeps it.
  std::vector<const std::byte*> addresses() const;
  /// The result in blocks, computed by `run`, in memory that is all NaN before.
  Buffer result(const std::function<void(kernels::Bound&)>& run = [](auto& b) { b.run(); }) const;

  kernels::Problem problem;
  std::unique_ptr<kernels::Kernel> kernel;
  std::vector<Buffer> inputs;
};

/// The results that our own loops promise, number by number. Sums begin with the bias and go on in
/// the order of taps and channels. Each product is added without rounding it first. WindowRange
/// outside of the picture are left out.
Buffer expected_by_sums(const Prepared& prepared, const ProblemMaker& maker);

}  // namespace polychron::tests
