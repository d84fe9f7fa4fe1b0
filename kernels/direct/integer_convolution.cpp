// Convolutions of 8-bit integers with constant filters, exact in int32. They may end as float32 or
// as 8-bit integers again.
//
// Instructions multiply packs of 32 bits and add the products: two elements of 16 bits, or four
// bytes if that is faster with these weights. Nothing saturates. A pack is an element of two or
// four channels, or neighbours in a row if a group has one channel. No window is gathered: a row of
// the picture is kept in as many phases as the stride has columns, so that neighbouring pixels
// always read neighbouring packs.
#include "kernels/integer_convolution.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>

#include "base/kept_once.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/integer_panels.hpp"
#include "kernels/direct/integer_picture.hpp"
#include "kernels/direct/narrow_steps.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/parts.hpp"

namespace polychron::kernels::direct {
namespace {

std::int32_t element_at(const std::byte* elements, std::size_t i, bool is_signed) {
  const auto value = std::to_integer<std::uint8_t>(elements[i]);
  return is_signed ? static_cast<std::int8_t>(value) : std::int32_t{value};
}

std::size_t quotient_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// A dimension of pictures.
struct PaddedExtent {
  std::size_t in, out, window, stride, dilation, before;
  PaddedExtent(const Problem& problem, std::size_t i)
      : in(problem.inputs[0].descriptor.shape[2 + i]),
        out(problem.outputs[0].descriptor.shape[2 + i]),
        window(problem.inputs[1].descriptor.shape[2 + i]) {
    const auto& a = std::get<Conv2dAttributes>(problem.attributes);
    stride = a.strides[i], dilation = a.dilations[i], before = a.padding[2 * i];
  }
  /// The elements that the pixels of a phase span, if there are `pixels` pixels.
  std::size_t span(std::size_t pixels) const { return pixels + (window - 1) * dilation / stride; }
};

/// A part: some groups of images, and some rows of each.
struct PictureShare {
  std::size_t first_group, last_group, first_row, last_row;
  std::size_t worker;
};

class IntegerConvolutionKernel final : public Kernel {
 public:
  IntegerConvolutionKernel(const IntegerConvolution& convolution, const Problem& problem)
      : c_(convolution), y_(problem, 0), x_(problem, 1), bias_(problem.inputs[3]) {
    const auto* const elements =
        reinterpret_cast<const std::int32_t*>(problem.inputs[1].constant->data());
    const std::span weights(elements, all_filters() * c_.channels * y_.window * x_.window);
    narrow_ = most_of_narrow_sum() > 0;
    lay_out();
    Packed packed = narrow_ ? packed_bytes(weights) : packed_pairs(weights);
    if (packed.time > packed.wide_time) {
      narrow_ = false;
      lay_out();
      packed = packed_pairs(weights);
    }
    keep(packed);
    packs_ = {}, weights_of_packs_ = {};
    if (narrow_)
      for (std::size_t f = 0, each = weights.size() / all_filters(); f < all_filters(); ++f) {
        const auto of_filter = weights.subspan(f * each, each);
        sums_.push_back(std::accumulate(of_filter.begin(), of_filter.end(), std::int32_t{0}));
      }
    divide();
    const std::size_t numbers = 5 * all_filters() * sizeof(float);
    worker_bytes_ = quotient_up(picture_bytes(block_) + numbers + copies_bytes(), 64) * 64;
  }

  std::size_t parts() const noexcept override { return shares_.size(); }
  std::size_t scratch_bytes() const noexcept override { return parts() * worker_bytes_; }
  void add_constants(Constants& constants) const override { constants.push_back(weights_); }
  bool keeps_constant(std::size_t index) const noexcept override { return index == 1; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<PartsBound<IntegerConvolutionKernel, const Arguments&>>(*this,
                                                                                    arguments);
  }

  PictureShare whole() const { return {0, c_.images * c_.groups, 0, y_.out, 0}; }
  const PictureShare& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const PictureShare&) const noexcept { return {}; }

  void compute(const PictureShare& share, const Arguments& arguments,
               std::span<const std::byte>) const {
    std::byte* const scratch = arguments.scratch + share.worker * worker_bytes_;
    IntegerPixels pixels = numbers(arguments, scratch + picture_bytes(block_));
    pixels.picture = reinterpret_cast<const std::int32_t*>(scratch);
    const IntegerPixels all = pixels;
    pad(arguments, scratch);
    for (std::size_t group = share.first_group; group < share.last_group; ++group) {
      const std::size_t filter = group % c_.groups * c_.filters;
      pixels.filters = std::span(filters_).subspan(group % c_.groups * blocks(), blocks());
      pixels.biases = all.biases + filter, pixels.zeros = all.zeros + filter;
      pixels.factors = all.factors + filter, pixels.summands = all.summands + filter;
      pixels.scales = all.scales + filter;
      for (std::size_t row = share.first_row; row < share.last_row; row += block_) {
        pixels.rows = std::min(block_, share.last_row - row);
        write_rows(group, row, pixels.rows, arguments, scratch);
        pixels.results = arguments.outputs[0] +
                         (group * c_.filters * pixels.step + row * x_.out) * byte_size(c_.result);
        convolve_integers(pixels);
      }
    }
  }

 private:
  bool across() const { return c_.channels == 1; }
  std::size_t all_filters() const { return c_.filters * c_.groups; }
  /// Of filters whose sums stay in registers together, in a group.
  std::size_t blocks() const { return quotient_up(c_.filters, most_integer_filters); }
  /// The elements of a pack.
  std::size_t together() const { return narrow_ ? 4 : 2; }
  /// Of a plane, with room for `rows` rows of pixels.
  std::size_t plane(std::size_t rows) const { return y_.stride * x_.stride * y_.span(rows) * row_; }
  /// The last vectors read beyond the last pixel.
  std::size_t picture_bytes(std::size_t rows) const {
    return (planes_ * plane(rows) + most_integer_pixels) * sizeof(std::int32_t);
  }

  /// Where the elements of a picture lie, and which of a filter's weights belong to them.
  void lay_out() {
    // The neighbours of a pack are columns of the window if there is one channel.
    const std::size_t columns = across() ? quotient_up(x_.window, together()) : x_.window;
    planes_ = quotient_up(c_.channels, together());
    row_ = x_.span(x_.out);
    constexpr std::size_t own = std::size_t{256} << 10;  // in a core's second-level cache
    block_ = 1;
    while (block_ < y_.out && picture_bytes(block_ + 1) <= own) ++block_;
    packs_.clear(), weights_of_packs_.clear();
    reads_phase_.assign(y_.stride * x_.stride, false);
    for (std::size_t p = 0; p < planes_; ++p)
      for (std::size_t ky = 0; ky < y_.window; ++ky)
        for (std::size_t k = 0; k < columns; ++k) {
          const std::size_t kx = across() ? together() * k : k;
          const std::size_t dy = ky * y_.dilation, dx = kx * x_.dilation;
          const std::size_t phase = dy % y_.stride * x_.stride + dx % x_.stride;
          const std::size_t row = phase * y_.span(block_) + dy / y_.stride;
          reads_phase_[phase] = true;
          packs_.push_back(
              static_cast<std::uint32_t>(p * plane(block_) + row * row_ + dx / x_.stride));
          for (std::size_t i = 0; i < together(); ++i) {
            const std::size_t channel = across() ? 0 : together() * p + i;
            const std::size_t column = across() ? kx + i : kx;
            const bool exists = channel < c_.channels && column < x_.window;
            weights_of_packs_.push_back(exists ? (channel * y_.window + ky) * x_.window + column
                                               : none);
          }
        }
    line_ = row_ * x_.stride;
  }

  /// For each block of filters: its weights, as the packs need them, element by element.
  template <class F>
  void for_blocks(std::span<const std::int32_t> weights, const F& take) const {
    const std::size_t elements = weights.size() / all_filters();
    std::vector<std::int16_t> block;
    for (std::size_t group = 0; group < c_.groups; ++group)
      for (std::size_t first = 0; first < c_.filters; first += most_integer_filters) {
        const std::size_t count = std::min(most_integer_filters, c_.filters - first);
        block.clear();
        for (const std::size_t i : weights_of_packs_)
          for (std::size_t f = group * c_.filters + first, end = f + count; f < end; ++f)
            block.push_back(i == none ? std::int16_t{0}
                                      : static_cast<std::int16_t>(weights[f * elements + i]));
        take(std::span<const std::int16_t>(block), count);
      }
  }

  /// The weights of all blocks of filters, and where those of each begin.
  struct Packed {
    struct Block {
      std::size_t weights, offsets, steps, doubled = 0;
    };
    std::vector<std::int32_t> weights;
    std::vector<Block> blocks;
    std::size_t time = 0, wide_time = 0;  ///< of bytes, and of pairs
  };

  Packed packed_pairs(std::span<const std::int32_t> weights) {
    Packed packed;
    offsets_ = packs_;
    for_blocks(weights, [&](std::span<const std::int16_t> block, std::size_t count) {
      packed.blocks.push_back({packed.weights.size(), 0, packs_.size()});
      for (std::size_t i = 0; i < block.size(); i += 2 * count)
        for (std::size_t f = 0; f < count; ++f)
          packed.weights.push_back(
              std::bit_cast<std::int32_t>(std::array{block[i + f], block[i + count + f]}));
    });
    return packed;
  }

  Packed packed_bytes(std::span<const std::int32_t> weights) {
    Packed packed;
    for_blocks(weights, [&](std::span<const std::int16_t> block, std::size_t count) {
      const NarrowSteps made = narrow_steps(block, count, most_of_narrow_sum());
      packed.time += made.time, packed.wide_time += made.wide_time;
      packed.blocks.push_back(
          {packed.weights.size(), offsets_.size(), made.steps.size(), made.doubled});
      for (const NarrowStep& step : made.steps) {
        offsets_.push_back(packs_[step.four]);
        for (std::size_t f = 0; f < count; ++f) {
          std::array<std::int8_t, 4> four{};
          for (std::size_t i = 0; i < four.size(); ++i)
            four[i] =
                static_cast<std::int8_t>(step.part_of(block[(4 * step.four + i) * count + f]));
          packed.weights.push_back(std::bit_cast<std::int32_t>(four));
        }
      }
    });
    return packed;
  }

  void keep(const Packed& packed) {
    weights_ = kept_once(std::make_shared<const Buffer>(
        Buffer::copy_of(std::span<const std::int32_t>(packed.weights))));
    const auto* const weights = reinterpret_cast<const std::int32_t*>(weights_->data());
    for (const Packed::Block& block : packed.blocks)
      filters_.push_back({.offsets = std::span(offsets_).subspan(block.offsets, block.steps),
                          .doubled = block.doubled,
                          .weights = weights + block.weights});
  }

  void divide() {
    const std::size_t groups = c_.images * c_.groups;
    const double pixels = static_cast<double>(y_.out * x_.out) * static_cast<double>(groups);
    const std::size_t products = c_.filters * c_.channels * y_.window * x_.window;
    const double operations = 2.0 * pixels * static_cast<double>(products);
    const bool by_groups = groups >= usual_parts;
    const std::size_t units = by_groups ? groups : y_.out;
    const std::size_t parts = parts_of(operations / operations_per_ns, units);
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t begin = units * i / parts, end = units * (i + 1) / parts;
      shares_.push_back(by_groups ? PictureShare{begin, end, 0, y_.out, i}
                                  : PictureShare{0, groups, begin, end, i});
    }
  }

  /// The numbers of all filters, in `scratch`.
  IntegerPixels numbers(const Arguments& arguments, std::byte* scratch) const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::size_t count = all_filters();
    auto* const reals = reinterpret_cast<float*>(scratch);
    auto* const integers = reinterpret_cast<std::int32_t*>(scratch + 3 * count * sizeof(float));
    const auto take = [&](const IntegerConvolution::ForFilters& of, float none, float* to) {
      const auto* const from = reinterpret_cast<const float*>(arguments.inputs[of.input]);
      if (of.input == 0 || of.one)
        std::fill_n(to, count, of.input == 0 ? none : *from);
      else
        std::copy_n(from, count, to);
    };
    take(c_.factors, c_.factor, reals);
    take(c_.summands, -0.0F, reals + count);  // which changes nothing; +0 would change -0
    take(c_.scales, 1, reals + 2 * count);
    const auto* const biases = reinterpret_cast<const std::int32_t*>(arguments.inputs[3]);
    const bool one_bias = bias_.present && *element_count(bias_.descriptor.shape) == 1;
    const std::int32_t zero = zero_point(arguments) + offset_of_row(c_.is_signed);
    for (std::size_t i = 0; i < count; ++i) {
      integers[i] = bias_.present ? biases[one_bias ? 0 : i] : 0;
      // As unsigned numbers: with a large bias, both may exceed int32 where the result does not.
      if (narrow_)
        integers[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(integers[i]) -
                                                static_cast<std::uint32_t>(zero * sums_[i]));
      integers[count + i] = c_.zeros == 0
                                ? 0
                                : element_at(arguments.inputs[c_.zeros], c_.scales.one ? 0 : i,
                                             c_.result == DataType::int8);
    }
    return {.picture = nullptr,
            .narrow = narrow_,
            .filters = {},
            .count = c_.filters,
            .row = row_,
            .width = x_.out,
            .biases = integers,
            .factors = reals,
            .summands = reals + count,
            .scales = reals + 2 * count,
            .zeros = integers + count,
            .is_bounded = c_.lowest > -infinity || c_.highest < infinity,
            .lowest = c_.lowest,
            .highest = c_.highest,
            .type = c_.result,
            .step = y_.out * x_.out};
  }

  std::int32_t zero_point(const Arguments& arguments) const {
    return arguments.inputs[2] == nullptr ? 0 : element_at(arguments.inputs[2], 0, c_.is_signed);
  }

  /// A worker's scratch memory: the picture, numbers of filters, and copies of a pack's channels
  /// with padding around their lines. Lines of one phase lie side by side, and make one row of
  /// packs.
  std::size_t copy_bytes() const { return y_.stride * y_.span(block_) * line_; }
  std::size_t copied_channels() const { return std::min(together(), c_.channels); }
  std::size_t copies_bytes() const {
    // Neighbours in a row are read less than a line behind the last one.
    return copied_channels() * copy_bytes() + line_;
  }
  std::byte* copies(std::byte* scratch) const {
    return scratch + picture_bytes(block_) + 5 * all_filters() * sizeof(float);
  }
  /// Writes what stays the same for all groups: padding, and what is read behind the last pixel.
  void pad(const Arguments& arguments, std::byte* scratch) const {
    std::fill_n(copies(scratch), copies_bytes(), static_cast<std::byte>(zero_point(arguments)));
    auto* const packs = reinterpret_cast<std::int32_t*>(scratch);
    std::fill_n(packs + planes_ * plane(block_), most_integer_pixels, 0);
  }

  /// Writes the part of the picture that `rows` rows of a group's results read.
  void write_rows(std::size_t group, std::size_t first, std::size_t rows,
                  const Arguments& arguments, std::byte* scratch) const {
    auto* packs = reinterpret_cast<std::int32_t*>(scratch);
    IntegerRow row{.narrow = narrow_,
                   .stride = x_.stride,
                   .count = y_.span(rows) * row_,
                   .is_signed = c_.is_signed,
                   .zero = zero_point(arguments)};
    for (std::size_t p = 0; p < planes_; ++p) {
      const std::size_t channel = together() * p;
      const std::size_t copied = std::min(together(), c_.channels - channel);
      for (std::size_t i = 0; i < copied; ++i)
        copy_lines(group * c_.channels + channel + i, first, rows, arguments,
                   copies(scratch) + i * copy_bytes());
      for (std::size_t phase = 0; phase < reads_phase_.size(); ++phase) {
        const std::byte* const lines =
            copies(scratch) + phase / x_.stride * y_.span(block_) * line_;
        // Elements that do not exist have weights of 0: any others may stand for them.
        for (std::size_t i = 0; i < row.elements.size(); ++i)
          row.elements[i] = across() ? lines + std::min(i, x_.window - 1) * x_.dilation
                                     : lines + std::min(i, copied - 1) * copy_bytes();
        row.phase = phase % x_.stride;
        row.packs = packs;
        packs += y_.span(block_) * row_;
        if (reads_phase_[phase]) pack_integers(row);
      }
    }
  }

  /// Copies the lines of a channel that `rows` rows of results read, phase by phase.
  void copy_lines(std::size_t channel, std::size_t first, std::size_t rows,
                  const Arguments& arguments, std::byte* to) const {
    const std::byte* const from = arguments.inputs[0] + channel * y_.in * x_.in;
    const std::size_t copied = std::min(x_.in, line_ - std::min(line_, x_.before));
    for (std::size_t phase = 0; phase < y_.stride; ++phase) {
      const auto read = std::span(reads_phase_).subspan(phase * x_.stride, x_.stride);
      if (std::ranges::none_of(read, std::identity())) continue;
      for (std::size_t i = 0; i < y_.span(rows); ++i) {
        std::byte* const line = to + (phase * y_.span(block_) + i) * line_;
        const std::size_t padded = (first + i) * y_.stride + phase;
        if (padded < y_.before || padded >= y_.before + y_.in)
          std::fill_n(line, line_, static_cast<std::byte>(zero_point(arguments)));
        else
          std::copy_n(from + (padded - y_.before) * x_.in, copied, line + x_.before);
      }
    }
  }

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const IntegerConvolution c_;
  const PaddedExtent y_, x_;
  const Slot bias_;
  bool narrow_ = false;
  std::size_t planes_ = 0;
  std::size_t row_ = 0;               ///< packs
  std::size_t block_ = 0;             ///< rows of pixels for which the picture is written together
  std::size_t line_ = 0;              ///< bytes
  std::vector<std::uint32_t> packs_;  ///< where the packs of a pixel lie in a picture
  std::vector<char> reads_phase_;     ///< true: some pack is there
  std::vector<std::size_t> weights_of_packs_;  ///< for each element of a pack, in a filter
  std::vector<std::uint32_t> offsets_;         ///< of all blocks of filters
  KeptBytes weights_;
  std::vector<IntegerFilters> filters_;
  std::vector<std::int32_t> sums_;  ///< of each filter's weights
  std::vector<PictureShare> shares_;
  std::size_t worker_bytes_ = 0;
};

}  // namespace

KernelResult prepare_integer_convolution(const Problem& problem) {
  const auto convolution = integer_convolution(problem);
  if (!convolution) return refuse("not a convolution of integers as our own loops take it");
  return KernelResult(std::make_unique<IntegerConvolutionKernel>(*convolution, problem));
}

}  // namespace polychron::kernels::direct
