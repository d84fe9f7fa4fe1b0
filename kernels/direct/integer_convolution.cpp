// Convolutions of 8-bit integers with constant filters, exact in int32. They may end as float32 or
// as 8-bit integers again. Written with Highway, which compiles this file once for each instruction
// set and chooses the processor's at run time.
//
// Instructions multiply two pairs of 16 bits and add both products in 32 bits, where nothing
// saturates. A pair is an element of two channels, or two neighbours in a row if a group has one
// channel. No window is gathered: a row of the picture is kept in as many phases as the stride has
// columns, so that neighbouring pixels always read neighbouring pairs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/integer_convolution.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/kept_once.hpp"
#include "kernels/direct/direct.hpp"
#include "kernels/direct/integer_picture.hpp"
#include "kernels/direct/parts_bound.hpp"
#include "kernels/integer_convolution.hpp"
#include "kernels/parts.hpp"
#include "kernels/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Sums = hn::ScalableTag<std::int32_t>;
using Reals = hn::RebindToFloat<Sums>;

HWY_INLINE void add_pairs(std::int32_t weights, const std::int32_t* pairs, hn::Vec<Sums>& sums,
                          hn::Vec<Sums>& others) {
  const Sums d;
#if HWY_TARGET == HWY_SCALAR
  const auto product = [&](int shift) {
    return static_cast<std::int16_t>(weights >> shift) * static_cast<std::int16_t>(*pairs >> shift);
  };
  sums = hn::Add(sums, hn::Set(d, product(0) + product(16)));
  static_cast<void>(others);
#else
  const hn::Repartition<std::int16_t, Sums> halves;
  sums = hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, hn::Set(d, weights)),
                                       hn::BitCast(halves, hn::LoadU(d, pairs)), sums, others);
#endif
}

/// The sum as the type of the results, in 32 bits.
HWY_INLINE hn::Vec<Sums> finished(const IntegerPixels& p, std::size_t filter, hn::Vec<Sums> sum) {
  const Sums d;
  const Reals real;
  if (p.type == DataType::int32) return sum;
  auto x = hn::Add(hn::Mul(hn::ConvertTo(real, sum), hn::Set(real, p.factors[filter])),
                   hn::Set(real, p.summands[filter]));
  const auto lowest = hn::Set(real, p.lowest), highest = hn::Set(real, p.highest);
  x = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);  // keeps NaN
  x = hn::IfThenElse(hn::Gt(x, highest), highest, x);
  if (p.type == DataType::float32) return hn::BitCast(d, x);
  const auto steps = hn::Div(x, hn::Set(real, p.scales[filter]));
  // Bounds that keep conversions exact. NaN becomes 0, whatever the zero point.
  const auto reach = hn::Set(real, 0x1p20F);
  const auto bounded = hn::Max(hn::Min(steps, reach), hn::Neg(reach));
  const bool is_signed = p.type == DataType::int8;
  const auto shifted = hn::Add(hn::NearestInt(bounded), hn::Set(d, p.zeros[filter]));
  const auto result = hn::Min(hn::Max(shifted, hn::Set(d, is_signed ? -128 : 0)),
                              hn::Set(d, is_signed ? 127 : 255));
  return hn::IfThenElse(hn::RebindMask(d, hn::Eq(steps, steps)), result, hn::Zero(d));
}

/// Stores those of `count` pixels from `first` on that exist.
HWY_INLINE void store(const IntegerPixels& p, std::size_t filter, std::size_t first,
                      std::size_t count, const std::int32_t* results) {
  const std::size_t bytes = byte_size(p.type);
  std::uint8_t small[most_integer_pixels];
  const void* from = results;
  if (bytes == 1) {
    for (std::size_t i = 0; i < count; ++i) small[i] = static_cast<std::uint8_t>(results[i]);
    from = small;
  }
  std::byte* const to = p.results + filter * p.step * bytes;
  if (p.row == p.width) {
    std::memcpy(to + first * bytes, from, count * bytes);
    return;
  }
  for (std::size_t i = 0, y = first / p.row, x = first % p.row; i < count; ++y, x = 0) {
    const std::size_t length = std::min(p.row - x, count - i);
    if (x < p.width)
      std::memcpy(to + (y * p.width + x) * bytes, static_cast<const std::byte*>(from) + i * bytes,
                  std::min(length, p.width - x) * bytes);
    i += length;
  }
}

/// The pixels from `pixel` on of `Filters` filters from `first` on, `Vectors` vectors of them.
template <std::size_t Filters, std::size_t Vectors>
HWY_INLINE void convolve_tile(const IntegerPixels& p, std::size_t first, std::size_t pixel,
                              std::size_t pixels) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d), step = p.planes * p.taps;
  hn::Vec<Sums> sums[Filters][Vectors], others[Filters][Vectors];
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v) {
      sums[f][v] = hn::Set(d, p.biases[first + f]);
      others[f][v] = hn::Zero(d);
    }
  }
  const std::int32_t* weights = p.weights + first * step;
  for (std::size_t plane = 0; plane < p.planes; ++plane) {
    const std::int32_t* const picture = p.picture + plane * p.plane + pixel;
    for (std::size_t tap = 0; tap < p.taps; ++tap, ++weights) {
      const std::int32_t* const pairs = picture + p.offsets[tap];
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t f = 0; f < Filters; ++f) {
        POLYCHRON_UNROLLED_LOOP
        for (std::size_t v = 0; v < Vectors; ++v)
          add_pairs(weights[f * step], pairs + v * lanes, sums[f][v], others[f][v]);
      }
    }
  }
  HWY_ALIGN std::int32_t results[most_integer_pixels];
  const std::size_t count = std::min(Vectors * lanes, pixels - pixel);
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t f = 0; f < Filters; ++f) {
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t v = 0; v < Vectors; ++v)
      hn::StoreU(finished(p, first + f, hn::RearrangeToOddPlusEven(sums[f][v], others[f][v])), d,
                 results + v * lanes);
    store(p, first + f, pixel, count, results);
  }
}

/// As many filters at a time as a core's second-level cache holds; their weights pass a tile, which
/// stays in the first level.
void convolve(const IntegerPixels& p) {
  const std::size_t lanes = hn::Lanes(Sums()), pixels = (p.rows - 1) * p.row + p.width;
  if (p.filters == 1) {
    for (std::size_t pixel = 0; pixel < pixels; pixel += 4 * lanes)
      convolve_tile<1, 4>(p, 0, pixel, pixels);
    return;
  }
  constexpr std::size_t own = std::size_t{128} << 10;
  const std::size_t fitting = own / (p.planes * p.taps * sizeof(std::int32_t));
  const std::size_t block =
      std::max<std::size_t>(fitting / most_integer_filters, 1) * most_integer_filters;
  for (std::size_t first = 0; first < p.filters; first += block) {
    const std::size_t last = std::min(first + block, p.filters);
    for (std::size_t pixel = 0; pixel < pixels; pixel += 2 * lanes) {
      std::size_t filter = first;
      for (; filter + most_integer_filters <= last; filter += most_integer_filters)
        convolve_tile<most_integer_filters, 2>(p, filter, pixel, pixels);
      if (last - filter == 3) convolve_tile<3, 2>(p, filter, pixel, pixels);
      if (last - filter == 2) convolve_tile<2, 2>(p, filter, pixel, pixels);
      if (last - filter == 1) convolve_tile<1, 2>(p, filter, pixel, pixels);
    }
  }
}

template <class T, std::size_t Stride>
HWY_INLINE void widen(const IntegerRow& row, std::size_t stride) {
  const auto* const first = reinterpret_cast<const T*>(row.first);
  const auto* const second = reinterpret_cast<const T*>(row.second);
  POLYCHRON_INDEPENDENT_STEPS
  for (std::size_t i = 0; i < row.count; ++i) {
    const std::size_t at = i * (Stride == 0 ? stride : Stride);
    const auto low = static_cast<std::uint32_t>(first[at] - row.zero) & 0xffffU;
    const auto high = static_cast<std::uint32_t>(second[at] - row.zero) << 16U;
    row.pairs[i] = static_cast<std::int32_t>(low | high);
  }
}
template <class T>
HWY_INLINE void widen_any(const IntegerRow& row) {
  if (row.stride == 1) return widen<T, 1>(row, 1);
  if (row.stride == 2) return widen<T, 2>(row, 2);
  widen<T, 0>(row, row.stride);
}
void widen_row(const IntegerRow& row) {
  row.is_signed ? widen_any<std::int8_t>(row) : widen_any<std::uint8_t>(row);
}

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(convolve);
HWY_EXPORT(widen_row);

std::int32_t integer_at(const std::byte* elements, std::size_t i, bool is_signed) {
  const auto value = std::to_integer<std::uint8_t>(elements[i]);
  return is_signed ? static_cast<std::int8_t>(value) : std::int32_t{value};
}

std::size_t quotient_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// A dimension of pictures.
struct Extent {
  std::size_t in, out, window, stride, dilation, before;
  Extent(const Problem& problem, std::size_t i)
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
struct Share {
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
    for (std::size_t ky = 0; ky < y_.window; ++ky)
      for (std::size_t k = 0; k < columns_; ++k) {
        const std::size_t dy = ky * y_.dilation, dx = (across() ? 2 * k : k) * x_.dilation;
        const std::size_t phase = dy % y_.stride * x_.stride + dx % x_.stride;
        offsets_.push_back((phase * y_.span(block_) + dy / y_.stride) * row_ + dx / x_.stride);
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

  Share whole() const { return {0, c_.images * c_.groups, 0, y_.out, 0}; }
  const Share& share(std::size_t part) const { return shares_[part]; }
  std::span<const std::byte> read_first(const Share&) const noexcept { return {}; }

  void compute(const Share& share, const Arguments& arguments, std::span<const std::byte>) const {
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
        HWY_DYNAMIC_DISPATCH(convolve)(pixels);
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
      shares_.push_back(by_groups ? Share{begin, end, 0, y_.out, i}
                                  : Share{0, groups, begin, end, i});
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
                                : integer_at(arguments.inputs[c_.zeros], c_.scales.one ? 0 : i,
                                             c_.result == DataType::int8);
    }
    return {.planes = planes_,
            .plane = plane(block_),
            .offsets = offsets_.data(),
            .taps = taps(),
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
                   .zero = integer_at(&zero, 0, c_.is_signed)};
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
          HWY_DYNAMIC_DISPATCH(widen_row)(part);
        }
      }
  }

  const IntegerConvolution c_;
  const Extent y_, x_;
  const Slot bias_;
  std::size_t columns_ = 0;  ///< pairs of a window's row
  std::size_t planes_ = 0;
  std::size_t row_ = 0;    ///< pairs
  std::size_t block_ = 0;  ///< rows of pixels for which the picture is written together
  std::size_t line_ = 0;   ///< bytes
  std::vector<std::size_t> offsets_;
  KeptBytes weights_;
  std::vector<Share> shares_;
  std::size_t worker_bytes_ = 0;
};

}  // namespace

KernelResult prepare_integer_convolution(const Problem& problem) {
  const auto convolution = integer_convolution(problem);
  if (!convolution) return refuse("not a convolution of integers as our own loops take it");
  return KernelResult(std::make_unique<IntegerConvolutionKernel>(*convolution, problem));
}

}  // namespace polychron::kernels::direct
#endif
