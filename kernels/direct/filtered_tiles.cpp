#include "kernels/direct/filtered_tiles.hpp"

#ifdef POLYCHRON_WIDE

#include <algorithm>

namespace polychron::kernels::direct {

template <std::size_t Results>
typename TileWork<Results>::Place TileWork<Results>::place_of(std::size_t tile) const {
  const std::size_t columns = (picture.x.out + Results - 1) / Results;
  const std::size_t rows = (picture.y.out + Results - 1) / Results;
  const std::size_t number = first_tile + tile;
  return {tile, number / (rows * columns),
          static_cast<std::ptrdiff_t>(number / columns % rows * Results),
          static_cast<std::ptrdiff_t>(number % columns * Results)};
}

/// Loads the numbers that a tile's results read; zeros outside of the picture.
template <std::size_t Results>
void TileWork<Results>::load(const Place& place, std::size_t block, Wide* values) const {
  const auto height = static_cast<std::ptrdiff_t>(picture.y.in),
             width = static_cast<std::ptrdiff_t>(picture.x.in),
             size = std::ptrdiff_t{Transform::size};
  const std::ptrdiff_t top = place.y - static_cast<std::ptrdiff_t>(picture.y.padding),
                       left = place.x - static_cast<std::ptrdiff_t>(picture.x.padding);
  const float* const plane = input + (place.picture * picture.in_blocks() + block) * picture.y.in *
                                         picture.x.in * wide_floats;
  const auto inside = [](std::ptrdiff_t at, std::ptrdiff_t extent) {
    return at >= 0 && at < extent;
  };
  const bool whole = top >= 0 && left >= 0 && top + size <= height && left + size <= width;
  for (std::ptrdiff_t y = 0; y < size; ++y)
    for (std::ptrdiff_t x = 0; x < size; ++x)
      values[y * size + x] =
          whole || (inside(top + y, height) && inside(left + x, width))
              ? _mm512_load_ps(plane + ((top + y) * width + left + x) * std::ptrdiff_t{wide_floats})
              : _mm512_setzero_ps();
}

template <std::size_t Results>
void TileWork<Results>::transform_tiles() {
  constexpr std::size_t size = Transform::size;
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  const __m512i limit = _mm512_castps_si512(_mm512_set1_ps(Transform::ordinary_limit));
  for (std::size_t block = 0; block < picture.in_blocks(); ++block)
    for (std::size_t i = 0; i < count; ++i) {
      Wide values[elements], columns[elements];
      load(place_of(i), block, values);
      // The largest magnitude, compared as bits. NaN and infinity are above every number.
      __m512i largest = _mm512_setzero_si512();
      for (const Wide& value : values)
        largest =
            _mm512_max_epu32(largest, _mm512_and_si512(_mm512_castps_si512(value), magnitude));
      if (_mm512_cmpge_epu32_mask(largest, limit) != 0) special[i] = true;
      for (std::size_t x = 0; x < size; ++x) Transform::input(values + x, columns + x, size);
      for (std::size_t y = 0; y < size; ++y)
        Transform::input(columns + y * size, values + y * size, 1);
      float* to = tiles + (block * count + i) * wide_floats;
      for (std::size_t e = 0; e < elements; ++e)
        _mm512_store_ps(to + e * picture.in_blocks() * count * wide_floats, values[e]);
    }
}

/// Applies the epilogue and writes the results that lie in the picture.
template <std::size_t Results>
void TileWork<Results>::store(const Place& place, std::size_t block, const Wide* values) const {
  const std::size_t y = static_cast<std::size_t>(place.y), x = static_cast<std::size_t>(place.x);
  const std::size_t rows = std::min(Results, picture.y.out - y);
  const std::size_t columns = std::min(Results, picture.x.out - x);
  const std::size_t channels = std::min(wide_floats, picture.out_channels - block * wide_floats);
  const auto present = static_cast<__mmask16>((1U << channels) - 1);
  const Wide lowest = _mm512_set1_ps(epilogue.lowest), highest = _mm512_set1_ps(epilogue.highest);
  const Wide offset = bias == nullptr ? _mm512_setzero_ps()
                                      : _mm512_maskz_loadu_ps(present, bias + block * wide_floats);
  const std::size_t plane = (place.picture * picture.out_blocks() + block) * picture.y.out;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t at = ((plane + y + row) * picture.x.out + x + column) * wide_floats;
      Wide value = _mm512_add_ps(values[row * Results + column], offset);
      if (added != nullptr) value = _mm512_add_ps(value, _mm512_load_ps(added + at));
      value = _mm512_min_ps(highest, _mm512_max_ps(lowest, value));  // NaN stays
      _mm512_store_ps(output + at, _mm512_maskz_mov_ps(present, value));
    }
}

template <std::size_t Results>
bool TileWork<Results>::any_ordinary() const {
  return !std::all_of(special.begin(), special.begin() + static_cast<std::ptrdiff_t>(count),
                      [](bool is) { return is; });
}

template <std::size_t Results>
void TileWork<Results>::finish() const {
  constexpr std::size_t size = Transform::size;
  std::array<Place, most_tiles> special_places;
  std::size_t special_count = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (special[i]) special_places[special_count++] = place_of(i);
  for (std::size_t block = first_block; block < last_block; ++block) {
    for (std::size_t i = 0; i < count; ++i) {
      if (special[i]) continue;
      Wide values[elements], columns[Results * size], results[Results * Results];
      for (std::size_t e = 0; e < elements; ++e)
        values[e] = _mm512_load_ps(product_of(e, block, i));
      for (std::size_t x = 0; x < size; ++x) Transform::output(values + x, size, columns + x, size);
      for (std::size_t y = 0; y < Results; ++y)
        Transform::output(columns + y * size, 1, results + y * Results, 1);
      store(place_of(i), block, results);
    }
    convolve_plainly({special_places.data(), special_count}, block);
  }
}

/// Computes tiles of one block of the result's channels directly, in vectors of the picture's
/// channels. All tiles share each load of the filter. These tiles need no products, so that memory
/// holds their sums, and behind them the results of each channel.
template <std::size_t Results>
void TileWork<Results>::convolve_plainly(std::span<const Place> places, std::size_t block) const {
  constexpr std::size_t own = Results * Results;
  static_assert(2 * own <= elements);
  if (places.empty()) return;
  const std::size_t first = block * wide_floats;
  for (const Place& place : places)
    for (std::size_t k = 0; k < own; ++k)
      _mm512_store_ps(product_of(own + k, block, place.tile), _mm512_setzero_ps());
  for (std::size_t channel = 0; channel < std::min(wide_floats, picture.out_channels - first);
       ++channel) {
    for (const Place& place : places)
      for (std::size_t k = 0; k < own; ++k)
        _mm512_store_ps(product_of(k, block, place.tile), _mm512_setzero_ps());
    for (std::size_t in = 0; in < picture.in_blocks(); ++in) {
      alignas(64) float of_channels[9][wide_floats] = {};
      const float* const windows =
          filter + ((first + channel) * picture.in_channels + in * wide_floats) * 9;
      const std::size_t inputs = std::min(wide_floats, picture.in_channels - in * wide_floats);
      for (std::size_t c = 0; c < inputs; ++c)
        for (std::size_t at = 0; at < 9; ++at) of_channels[at][c] = windows[c * 9 + at];
      Wide weights[9];
      for (std::size_t at = 0; at < 9; ++at) weights[at] = _mm512_load_ps(of_channels[at]);
      for (const Place& place : places) add_windows(place, block, in, weights);
    }
    for (const Place& place : places)
      for (std::size_t k = 0; k < own; ++k)
        product_of(own + k, block, place.tile)[channel] =
            _mm512_reduce_add_ps(_mm512_load_ps(product_of(k, block, place.tile)));
  }
  for (const Place& place : places) {
    Wide values[own];
    for (std::size_t k = 0; k < own; ++k)
      values[k] = _mm512_load_ps(product_of(own + k, block, place.tile));
    store(place, block, values);
  }
}

/// Adds the products of one block of the picture's channels to a tile's sums.
template <std::size_t Results>
void TileWork<Results>::add_windows(const Place& place, std::size_t block, std::size_t in_block,
                                    const Wide* weights) const {
  constexpr std::size_t size = Transform::size, taps = 9;
  Wide values[elements], of_taps[taps];
  load(place, in_block, values);
  std::copy_n(weights, taps, of_taps);
  float* const sums = product_of(0, block, place.tile);
  const std::ptrdiff_t step = product_of(1, block, place.tile) - sums;
  POLYCHRON_UNROLLED_LOOP
  for (std::size_t k = 0; k < Results * Results; ++k) {
    Wide sum = _mm512_load_ps(sums + static_cast<std::ptrdiff_t>(k) * step);
    POLYCHRON_UNROLLED_LOOP
    for (std::size_t tap = 0; tap < taps; ++tap)
      sum = _mm512_fmadd_ps(values[(k / Results + tap / 3) * size + k % Results + tap % 3],
                            of_taps[tap], sum);
    _mm512_store_ps(sums + static_cast<std::ptrdiff_t>(k) * step, sum);
  }
}

template struct TileWork<2>;
template struct TileWork<4>;

}  // namespace polychron::kernels::direct

#endif
