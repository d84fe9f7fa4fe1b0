// Depthwise convolutions of pictures in blocks of channels: block by block, row by row.
//
// They read as much as they compute: the filter is small, and each block of the picture is read
// once.
#include <algorithm>
#include <array>

#include "base/kept_once.hpp"
#include "kernels/direct/convolution_geometry.hpp"
#include "kernels/direct/depthwise_rows.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/picture_operands.hpp"
#include "kernels/epilogue.hpp"
#include "kernels/parts.hpp"
#include "kernels/strides.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels::direct {
namespace {

struct Geometry : ConvolutionGeometry {
  using ConvolutionGeometry::ConvolutionGeometry;

  std::size_t planes() const { return batch * in_blocks(); }
  /// The rows of the result, in all planes.
  std::size_t rows() const { return planes() * y.out; }
  /// In ns on one thread, as estimated for a cut by the operands' shapes.
  double work() const {
    const auto floats = static_cast<double>(planes() * (in_plane() + out_plane()));
    const auto products = static_cast<double>(planes() * out_plane() * taps());
    return std::max(2 * products / operations_per_ns, floats * sizeof(float) / bytes_per_ns);
  }
};

/// The weights of each tap, for each block of channels. Padding is zero. Equal weights share
/// memory.
KeptBytes weights_of(const Geometry& geometry, const Problem& problem) {
  const Slot& filter = problem.inputs[1];
  const auto order = ops::filter_axes(std::get<Conv2dAttributes>(problem.attributes).filter_layout);
  const Strides steps = strides_of(filter.descriptor.shape);
  const auto step = [&](std::size_t axis) { return static_cast<std::size_t>(steps[order[axis]]); };
  const auto from = filter.constant->as<float>();
  const std::size_t block = geometry.block;
  Buffer bytes(geometry.in_blocks() * geometry.taps() * block * sizeof(float));
  const auto to = bytes.as<float>();
  for (std::size_t channel = 0; channel < geometry.in_channels; ++channel)
    for (std::size_t tap = 0; tap < geometry.taps(); ++tap)
      to[(channel / block * geometry.taps() + tap) * block + channel % block] =
          from[channel * step(0) + tap / geometry.x.window * step(2) +
               tap % geometry.x.window * step(3)];
  return kept_once(std::make_shared<const Buffer>(std::move(bytes)));
}

/// Groups of `pixels` pixels of a row, one after the other.
struct Groups {
  std::size_t first, pixels, count;
};

/// Divides a row's pixels into the fewest groups. Their sizes differ by one at most; the longer
/// groups come first.
std::array<Groups, 2> groups_of(std::size_t pixels) {
  const std::size_t most = DepthwiseTile::get().pixels, groups = (pixels + most - 1) / most;
  const std::size_t length = pixels / groups, longer = pixels % groups;
  return {Groups{0, length + 1, longer}, Groups{longer * (length + 1), length, groups - longer}};
}

class DepthwiseConvolution final : public Kernel {
 public:
  DepthwiseConvolution(const Problem& problem, const Epilogue& epilogue)
      : geometry_(problem),
        epilogue_(epilogue),
        weights_(weights_of(geometry_, problem)),
        groups_(groups_of(geometry_.x.out)),
        parts_(parts_of(geometry_.work(), geometry_.rows())) {}

  std::size_t parts() const noexcept override { return parts_; }
  void add_constants(Constants& constants) const override { constants.push_back(weights_); }
  bool keeps_constant(std::size_t index) const noexcept override { return index == 1; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<DepthwiseBound>(*this, PictureOperands{arguments});
  }

 private:
  class DepthwiseBound final : public Bound {
   public:
    DepthwiseBound(const DepthwiseConvolution& kernel, const PictureOperands& operands)
        : kernel_(kernel), operands_(operands) {}
    std::size_t parts() const noexcept override { return kernel_.parts(); }
    void run() override { kernel_.compute(0, kernel_.geometry_.rows(), operands_); }
    void run_part(std::size_t part) override {
      const std::size_t rows = kernel_.geometry_.rows();
      kernel_.compute(rows * part / parts(), rows * (part + 1) / parts(), operands_);
    }

   private:
    const DepthwiseConvolution& kernel_;
    const PictureOperands operands_;
  };

  /// Computes rows [first, last) of the result, counted through all planes.
  void compute(std::size_t first, std::size_t last, const PictureOperands& operands) const {
    while (first < last) {
      const std::size_t plane = first / geometry_.y.out, y = first % geometry_.y.out;
      const std::size_t rows =
          std::min({DepthwiseTile::get().rows, last - first, geometry_.y.out - y});
      for (const Groups& groups : groups_)
        if (groups.count > 0) compute(plane, y, rows, groups, operands);
      first += rows;
    }
  }

  void compute(std::size_t plane, std::size_t y, std::size_t rows, const Groups& groups,
               const PictureOperands& operands) const {
    const Extent &vertical = geometry_.y, &horizontal = geometry_.x;
    const std::size_t block = plane % geometry_.in_blocks();
    const std::size_t floats = geometry_.block, channel = block * floats;
    const std::ptrdiff_t row = vertical.place(y, 0), column = horizontal.place(groups.first, 0);
    const auto end = [](std::size_t extent, std::ptrdiff_t begin) {
      return static_cast<std::ptrdiff_t>(extent) - begin;
    };
    const std::size_t at =
        plane * geometry_.out_plane() + (y * horizontal.out + groups.first) * floats;
    const auto width = static_cast<std::ptrdiff_t>(horizontal.in);
    multiply_depthwise({geometry_.x.window, vertical.stride, horizontal.stride}, rows,
                       groups.pixels,
                       {.picture = operands.input(0) + plane * geometry_.in_plane() +
                                   (row * width + column) * static_cast<std::ptrdiff_t>(floats),
                        .picture_row = horizontal.in * floats,
                        .first_row = -row,
                        .last_row = end(vertical.in, row),
                        .first_column = -column,
                        .last_column = end(horizontal.in, column),
                        .filter = reinterpret_cast<const float*>(weights_->data()) +
                                  block * geometry_.taps() * floats,
                        .bias = operands.other(epilogue_.bias, channel),
                        .result = operands.result() + at,
                        .added = operands.other(epilogue_.added, at),
                        .result_row = horizontal.out * floats,
                        .groups = groups.count,
                        .channels = geometry_.in_channels - channel,
                        .lowest = epilogue_.lowest,
                        .highest = epilogue_.highest});
  }

  const Geometry geometry_;
  const Epilogue epilogue_;
  const KeptBytes weights_;
  const std::array<Groups, 2> groups_;
  const std::size_t parts_;
};

}  // namespace

KernelResult prepare_depthwise(const Problem& problem) {
  if (auto why = refuse_depthwise(problem)) return refuse(*std::move(why));
  return KernelResult(std::make_unique<DepthwiseConvolution>(problem, *epilogue_of(problem)));
}

}  // namespace polychron::kernels::direct
