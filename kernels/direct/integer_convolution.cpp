// Convolutions of 8-bit integers with constant filters, exact in int32. They may end as float32 or
// as 8-bit integers again.
//
// Instructions multiply two pairs of 16 bits and add both products in 32 bits, where nothing
// saturates. A pair is an element of two channels, or two neighbours in a row if a group has one
// channel. No window is gathered: a row of the picture is kept in as many phases as the stride has
// columns, so that neighbouring pixels always read neighbouring pairs.
#include "kernels/integer_convolution.hpp"

#include <algorithm>

#include "base/kept_once.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/integer_picture.hpp"
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
    // The neighbours of a pair are columns of the window if there is one channel.
    columns_ = across() ? quotient_up(x_.window, 2) : x_.window;
    planes_ = quotient_up(c_.channels, 2);
    row_ = x_.span(x_.out);
    pack(problem.inputs[1]);
    divide();
    constexpr std::size_t own = std::size_t{256} << 10;  // in a core's second-level cache
    block_ = 1;
    while (block_ < y_.out && picture_bytes(block_ + 1) <= own) ++block_;
    for (std::size_t p = 0; p < planes_; ++p)
      for (std::size_t ky = 0; ky < y_.window; ++ky)
        for (std::size_t k = 0; k < columns_; ++k) {
          const std::size_t dy = ky * y_.dilation, dx = (across() ? 2 * k : k) * x_.dilation;
          const std::size_t phase = dy % y_.stride * x_.stride + dx % x_.stride;
          const std::size_t row = phase * y_.span(block_) + dy / y_.stride;
          offsets_.push_back(
              static_cast<std::uint32_t>(p * plane(block_) + row * row_ + dx / x_.stride));
        }
    line_ = row_ * x_.stride + x_.before + x_.in + x_.dilation;
    const std::size_t numbers = 5 * all_filters() * sizeof(float);
    worker_bytes_ = quotient_up(picture_bytes(block_) + numbers + 3 * line_, 64) * 64;
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
    for (std::size_t group = share.first_group; group < share.last_group; ++group) {
      const std::size_t filter = group % c_.groups * c_.filters;
      pixels.weights = weights() + filter * step();
      pixels.biases = all.biases + filter, pixels.zeros = all.zeros + filter;
      pixels.factors = all.factors + filter, pixels.summands = all.summands + filter;
      pixels.scales = all.scales + filter;
      for (std::size_t row = share.first_row; row < share.last_row; row += block_) {
        pixels.rows = std::min(block_, share.last_row - row);
        widen_rows(group, row, pixels.rows, arguments, scratch);
        pixels.results = arguments.outputs[0] +
                         (group * c_.filters * pixels.step + row * x_.out) * byte_size(c_.result);
        convolve_integers(pixels);
      }
    }
  }

 private:
  bool across() const { return c_.channels == 1; }
  std::size_t all_filters() const { return c_.filters * c_.groups; }
  std::size_t taps() const { return y_.window * columns_; }
  std::size_t step() const { return planes_ * taps(); }
  const std::int32_t* weights() const {
    return reinterpret_cast<const std::int32_t*>(weights_->data());
  }
  /// Of a plane, with room for `rows` rows of pixels.
  std::size_t plane(std::size_t rows) const { return y_.stride * x_.stride * y_.span(rows) * row_; }
  /// The last vectors read beyond the last pixel.
  std::size_t picture_bytes(std::size_t rows) const {
    return (planes_ * plane(rows) + most_integer_pixels) * sizeof(std::int32_t);
  }

  void pack(const Slot& filter) {
    Buffer bytes(all_filters() * step() * sizeof(std::int32_t));
    std::fill_n(bytes.data(), bytes.size(), std::byte{0});
    auto* const to = reinterpret_cast<std::int16_t*>(bytes.data());
    const auto* from = reinterpret_cast<const std::int32_t*>(filter.constant->data());
    for (std::size_t f = 0; f < all_filters(); ++f)
      for (std::size_t c = 0; c < c_.channels; ++c)
        for (std::size_t ky = 0; ky < y_.window; ++ky)
          for (std::size_t kx = 0; kx < x_.window; ++kx) {
            const std::size_t column = across() ? kx / 2 : kx, half = across() ? kx % 2 : c % 2;
            const std::size_t pair = (f * planes_ + c / 2) * taps() + ky * columns_ + column;
            to[2 * pair + half] = static_cast<std::int16_t>(*from++);
          }
    weights_ = kept_once(std::make_shared<const Buffer>(std::move(bytes)));
  }

  void divide() {
    const std::size_t groups = c_.images * c_.groups;
    const double pixels = static_cast<double>(y_.out * x_.out) * static_cast<double>(groups);
    const double operations = 4.0 * pixels * static_cast<double>(c_.filters * step());
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
    for (std::size_t i = 0; i < count; ++i) {
      integers[i] = bias_.present ? biases[one_bias ? 0 : i] : 0;
      integers[count + i] = c_.zeros == 0
                                ? 0
                                : element_at(arguments.inputs[c_.zeros], c_.scales.one ? 0 : i,
                                             c_.result == DataType::int8);
    }
    return {.offsets = offsets_,
            .filters = c_.filters,
            .row = row_,
            .width = x_.out,
            .biases = integers,
            .factors = reals,
            .summands = reals + count,
            .scales = reals + 2 * count,
            .zeros = integers + count,
            .lowest = c_.lowest,
            .highest = c_.highest,
            .type = c_.result,
            .step = y_.out * x_.out};
  }

  /// Writes the part of the picture that `rows` rows of a group's results read.
  void widen_rows(std::size_t group, std::size_t first, std::size_t rows,
                  const Arguments& arguments, std::byte* scratch) const {
    auto* const pairs = reinterpret_cast<std::int32_t*>(scratch);
    const std::byte zero = arguments.inputs[2] == nullptr ? std::byte{0} : *arguments.inputs[2];
    std::byte* const lines = scratch + picture_bytes(block_) + 5 * all_filters() * sizeof(float);
    std::fill_n(lines, 3 * line_, zero);
    std::fill_n(pairs + planes_ * plane(block_), most_integer_pixels, 0);
    IntegerRow row{.stride = x_.stride,
                   .count = row_,
                   .is_signed = c_.is_signed,
                   .zero = element_at(&zero, 0, c_.is_signed)};
    for (std::size_t p = 0; p < planes_; ++p)
      for (std::size_t line = 0; line < y_.stride * y_.span(rows); ++line) {
        const std::size_t padded = first * y_.stride + line;
        const bool exists = padded >= y_.before && padded < y_.before + y_.in;
        row.first = lines + 2 * line_, row.second = row.first;  // zero points
        if (exists) {
          const auto copy = [&](std::size_t channel, std::byte* to) {
            const std::size_t at = (group * c_.channels + channel) * y_.in + padded - y_.before;
            std::copy_n(arguments.inputs[0] + at * x_.in, x_.in, to + x_.before);
          };
          copy(2 * p, lines);
          row.first = lines;
          if (across())
            row.second = lines + x_.dilation;
          else if (2 * p + 1 < c_.channels) {
            copy(2 * p + 1, lines + line_);
            row.second = lines + line_;
          }
        }
        for (std::size_t phase = 0; phase < x_.stride; ++phase) {
          IntegerRow part = row;
          part.first += phase, part.second += phase;
          part.pairs =
              pairs + p * plane(block_) +
              ((line % y_.stride * x_.stride + phase) * y_.span(block_) + line / y_.stride) * row_;
          widen_integers(part);
        }
      }
  }

  const IntegerConvolution c_;
  const PaddedExtent y_, x_;
  const Slot bias_;
  std::size_t columns_ = 0;  ///< pairs of a window's row
  std::size_t planes_ = 0;
  std::size_t row_ = 0;    ///< pairs
  std::size_t block_ = 0;  ///< rows of pixels for which the picture is written together
  std::size_t line_ = 0;   ///< bytes
  std::vector<std::uint32_t> offsets_;
  KeptBytes weights_;
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
