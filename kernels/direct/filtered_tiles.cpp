// Written with Highway, which compiles this file once for each instruction set and chooses the
// processor's at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/direct/filtered_tiles.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/highway.h>

#include <algorithm>
#include <span>

#include "kernels/direct/filtered_tiles.hpp"
#include "kernels/direct/picture_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace polychron::kernels::direct::HWY_NAMESPACE {

#if POLYCHRON_FUSED_TARGET

HWY_INLINE Reals times(double factor, Reals x) {
  return hn::Mul(hn::Set(Real(), static_cast<float>(factor)), x);
}
/// factor * x + y
HWY_INLINE Reals plus(double factor, Reals x, Reals y) {
  return hn::MulAdd(hn::Set(Real(), static_cast<float>(factor)), x, y);
}

/// The transforms of a tile's numbers and of its products along one dimension. They read each
/// `step`-th vector.
template <std::size_t Results>
struct Transform;

template <>
struct Transform<2> : TileTransform<2> {
  static HWY_INLINE void input(const Reals* from, Reals* to, std::size_t step) {
    const auto d0 = from[0], d1 = from[step], d2 = from[2 * step], d3 = from[3 * step];
    to[0] = hn::Sub(d2, d0);
    to[step] = hn::Add(d2, d1);
    to[2 * step] = hn::Sub(d2, d1);
    to[3 * step] = hn::Sub(d3, d1);
  }

  static HWY_INLINE void output(const Reals* from, std::size_t step, Reals* to,
                                std::size_t to_step) {
    const auto m1 = from[step], m2 = from[2 * step];
    to[0] = hn::Add(from[0], hn::Add(m1, m2));
    to[to_step] = hn::Add(hn::Sub(m1, m2), from[3 * step]);
  }
};

template <>
struct Transform<4> : TileTransform<4> {
  static HWY_INLINE void input(const Reals* from, Reals* to, std::size_t step) {
    const auto d0 = from[0], d1 = from[step], d2 = from[2 * step], d3 = from[3 * step],
               d4 = from[4 * step], d5 = from[5 * step];
    // The coefficients of (x^2 - a^2)(x^2 - b^2), once without and once with a factor x.
    to[0] = plus(a2 * b2, d0, plus(-(a2 + b2), d2, d4));
    to[5 * step] = plus(a2 * b2, d1, plus(-(a2 + b2), d3, d5));
    // The polynomials without one root are the sums and differences of an even and an odd part.
    const auto even_a = plus(-b2, d2, d4), odd_a = times(a, plus(-b2, d1, d3));
    to[step] = hn::Add(even_a, odd_a);
    to[2 * step] = hn::Sub(even_a, odd_a);
    const auto even_b = plus(-a2, d2, d4), odd_b = times(b, plus(-a2, d1, d3));
    to[3 * step] = hn::Add(even_b, odd_b);
    to[4 * step] = hn::Sub(even_b, odd_b);
  }

  static HWY_INLINE void output(const Reals* from, std::size_t step, Reals* to,
                                std::size_t to_step) {
    const auto m1 = from[step], m2 = from[2 * step], m3 = from[3 * step], m4 = from[4 * step];
    const auto even_a = hn::Add(m1, m2), odd_a = hn::Sub(m1, m2);
    const auto even_b = hn::Add(m3, m4), odd_b = hn::Sub(m3, m4);
    to[0] = hn::Add(from[0], hn::Add(even_a, even_b));
    to[to_step] = plus(a, odd_a, times(b, odd_b));
    to[2 * to_step] = plus(a2, even_a, times(b2, even_b));
    to[3 * to_step] = plus(a2 * a, odd_a, plus(b2 * b, odd_b, from[5 * step]));
  }
};

/// A tile, and the vector of each block that is computed.
struct Place {
  std::size_t tile;  ///< number among those computed together
  std::size_t picture;
  std::ptrdiff_t y, x;  ///< of its first result
};

template <std::size_t Results>
class Tiles {
 public:
  explicit Tiles(const TileWork& work) : work_(work), picture_(work.picture) {}

  void transform(std::array<bool, most_tiles>& special) const {
    const Real d;
    const hn::RebindToSigned<Real> whole;
    const auto magnitude = hn::Set(whole, 0x7fffffff);
    const auto limit = hn::BitCast(whole, hn::Set(d, Own::ordinary_limit));
    for (std::size_t block = 0; block < picture_.in_blocks(); ++block)
      for (std::size_t i = 0; i < work_.count; ++i)
        for (std::size_t part = 0; part < block_floats; part += lanes) {
          Reals values[elements], columns[elements];
          load(place_of(i), block, part, values);
          // The largest magnitude, compared as bits. NaN and infinity are above every number.
          auto largest = hn::Zero(whole);
          for (const auto& value : values)
            largest = hn::Max(largest, hn::And(hn::BitCast(whole, value), magnitude));
          if (!hn::AllTrue(whole, hn::Gt(limit, largest))) special[i] = true;
          for (std::size_t x = 0; x < size; ++x) Own::input(values + x, columns + x, size);
          for (std::size_t y = 0; y < size; ++y)
            Own::input(columns + y * size, values + y * size, 1);
          float* to = work_.tiles + (block * work_.count + i) * block_floats + part;
          for (std::size_t e = 0; e < elements; ++e)
            hn::StoreU(values[e], d, to + e * picture_.in_blocks() * work_.count * block_floats);
        }
  }

  void finish() const {
    const Real d;
    std::array<Place, most_tiles> special_places;
    std::size_t special_count = 0;
    for (std::size_t i = 0; i < work_.count; ++i)
      if (work_.special[i]) special_places[special_count++] = place_of(i);
    for (std::size_t block = work_.first_block; block < work_.last_block; ++block) {
      for (std::size_t i = 0; i < work_.count; ++i) {
        if (work_.special[i]) continue;
        for (std::size_t part = 0; part < block_floats; part += lanes) {
          Reals values[elements], columns[Results * size], results[own];
          for (std::size_t e = 0; e < elements; ++e)
            values[e] = hn::LoadU(d, work_.product_of(e, block, i) + part);
          for (std::size_t x = 0; x < size; ++x) Own::output(values + x, size, columns + x, size);
          for (std::size_t y = 0; y < Results; ++y)
            Own::output(columns + y * size, 1, results + y * Results, 1);
          store(place_of(i), block, part, results);
        }
      }
      convolve_plainly({special_places.data(), special_count}, block);
    }
  }

 private:
  using Own = Transform<Results>;
  static constexpr std::size_t size = Own::size, elements = size * size, own = Results * Results;
  static constexpr std::size_t taps = 9;

  Place place_of(std::size_t tile) const {
    const std::size_t columns = (picture_.x.out + Results - 1) / Results;
    const std::size_t rows = (picture_.y.out + Results - 1) / Results;
    const std::size_t number = work_.first_tile + tile;
    return {tile, number / (rows * columns),
            static_cast<std::ptrdiff_t>(number / columns % rows * Results),
            static_cast<std::ptrdiff_t>(number % columns * Results)};
  }

  /// Loads the numbers that a tile's results read; zeros outside of the picture. `part` is where
  /// the vector begins in each block.
  void load(const Place& place, std::size_t block, std::size_t part, Reals* values) const {
    const Real d;
    const auto height = static_cast<std::ptrdiff_t>(picture_.y.in),
               width = static_cast<std::ptrdiff_t>(picture_.x.in), extent = std::ptrdiff_t{size};
    const std::ptrdiff_t top = place.y - static_cast<std::ptrdiff_t>(picture_.y.padding),
                         left = place.x - static_cast<std::ptrdiff_t>(picture_.x.padding);
    const float* const plane =
        work_.input + (place.picture * picture_.in_blocks() + block) * picture_.in_plane() + part;
    const auto inside = [](std::ptrdiff_t at, std::ptrdiff_t end) { return at >= 0 && at < end; };
    const bool all = top >= 0 && left >= 0 && top + extent <= height && left + extent <= width;
    for (std::ptrdiff_t y = 0; y < extent; ++y)
      for (std::ptrdiff_t x = 0; x < extent; ++x)
        values[y * extent + x] = all || (inside(top + y, height) && inside(left + x, width))
                                     ? hn::LoadU(d, plane + ((top + y) * width + left + x) *
                                                                std::ptrdiff_t{block_floats})
                                     : hn::Zero(d);
  }

  /// Applies the epilogue and writes the results that lie in the picture.
  void store(const Place& place, std::size_t block, std::size_t part, const Reals* values) const {
    const Real d;
    const auto y = static_cast<std::size_t>(place.y), x = static_cast<std::size_t>(place.x);
    const std::size_t rows = std::min(Results, picture_.y.out - y);
    const std::size_t columns = std::min(Results, picture_.x.out - x);
    const std::size_t first = block * block_floats + part;
    const std::size_t channels = picture_.out_channels - std::min(picture_.out_channels, first);
    const Bounds bounds(work_.epilogue.lowest, work_.epilogue.highest, channels);
    const auto offset = work_.bias == nullptr || channels == 0
                            ? hn::Zero(d)
                            : load_some(d, work_.bias + first, channels);
    const std::size_t plane = (place.picture * picture_.out_blocks() + block) * picture_.y.out;
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < columns; ++column) {
        const std::size_t at =
            ((plane + y + row) * picture_.x.out + x + column) * block_floats + part;
        auto value = hn::Add(values[row * Results + column], offset);
        if (work_.added != nullptr) value = hn::Add(value, hn::LoadU(d, work_.added + at));
        hn::StoreU(bounds.of(value), d, work_.output + at);
      }
  }

  /// Computes tiles of one block of the result's channels directly, in vectors of the picture's
  /// channels. All tiles share each load of the filter. These tiles need no products, so that
  /// memory holds their sums, and behind them the results of each channel.
  void convolve_plainly(std::span<const Place> places, std::size_t block) const {
    static_assert(2 * own <= elements);
    if (places.empty()) return;
    const Real d;
    const auto clear = [&](std::size_t first) {
      for (const Place& place : places)
        for (std::size_t k = first; k < first + own; ++k)
          std::fill_n(work_.product_of(k, block, place.tile), block_floats, 0.0F);
    };
    clear(own);
    const std::size_t first = block * block_floats;
    for (std::size_t channel = 0; channel < std::min(block_floats, picture_.out_channels - first);
         ++channel) {
      clear(0);
      for (std::size_t in = 0; in < picture_.in_blocks(); ++in) {
        float of_channels[taps][block_floats] = {};
        const float* const windows =
            work_.filter + ((first + channel) * picture_.in_channels + in * block_floats) * taps;
        const std::size_t inputs = std::min(block_floats, picture_.in_channels - in * block_floats);
        for (std::size_t c = 0; c < inputs; ++c)
          for (std::size_t at = 0; at < taps; ++at) of_channels[at][c] = windows[c * taps + at];
        for (std::size_t part = 0; part < block_floats; part += lanes) {
          Reals weights[taps];
          for (std::size_t at = 0; at < taps; ++at)
            weights[at] = hn::LoadU(d, of_channels[at] + part);
          for (const Place& place : places) add_windows(place, block, in, part, weights);
        }
      }
      for (const Place& place : places)
        for (std::size_t k = 0; k < own; ++k) {
          float sum = 0;
          for (std::size_t part = 0; part < block_floats; part += lanes)
            sum += hn::GetLane(
                hn::SumOfLanes(d, hn::LoadU(d, work_.product_of(k, block, place.tile) + part)));
          work_.product_of(own + k, block, place.tile)[channel] = sum;
        }
    }
    for (const Place& place : places)
      for (std::size_t part = 0; part < block_floats; part += lanes) {
        Reals values[own];
        for (std::size_t k = 0; k < own; ++k)
          values[k] = hn::LoadU(d, work_.product_of(own + k, block, place.tile) + part);
        store(place, block, part, values);
      }
  }

  /// Adds the products of one block of the picture's channels to a tile's sums.
  void add_windows(const Place& place, std::size_t block, std::size_t in_block, std::size_t part,
                   const Reals* weights) const {
    const Real d;
    Reals values[elements], of_taps[taps];
    load(place, in_block, part, values);
    for (std::size_t tap = 0; tap < taps; ++tap) of_taps[tap] = weights[tap];
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t k = 0; k < own; ++k) {
      float* const to = work_.product_of(k, block, place.tile) + part;
      auto sum = hn::LoadU(d, to);
      POLYCHRON_UNROLLED_LOOP
      for (std::size_t tap = 0; tap < taps; ++tap)
        sum = hn::MulAdd(values[(k / Results + tap / 3) * size + k % Results + tap % 3],
                         of_taps[tap], sum);
      hn::StoreU(sum, d, to);
    }
  }

  const TileWork& work_;
  const ConvolutionGeometry& picture_;
};

void transform_any(TileWork& work) {
  if (work.results == 2)
    Tiles<2>(work).transform(work.special);
  else
    Tiles<4>(work).transform(work.special);
}

void finish_any(const TileWork& work) {
  if (work.results == 2)
    Tiles<2>(work).finish();
  else
    Tiles<4>(work).finish();
}

#else

void transform_any(TileWork&) {}
void finish_any(const TileWork&) {}

#endif

}  // namespace polychron::kernels::direct::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace polychron::kernels::direct {
namespace {

HWY_EXPORT(transform_any);
HWY_EXPORT(finish_any);

}  // namespace

void transform_tiles(TileWork& work) { HWY_DYNAMIC_DISPATCH(transform_any)(work); }
void finish_tiles(const TileWork& work) { HWY_DYNAMIC_DISPATCH(finish_any)(work); }

}  // namespace polychron::kernels::direct
#endif
