#include "kernels/direct/filter_panels.hpp"

#include <algorithm>

#include "kernels/direct/panel_product.hpp"

namespace polychron::kernels::direct {
namespace {

/// Transforms a window of the filter along both dimensions.
template <class Transform>
void transform(const float* window, double* to) {
  constexpr std::size_t size = Transform::size;
  std::array<double, size> columns[3];
  for (std::size_t x = 0; x < 3; ++x)
    columns[x] = Transform::filter(window[x], window[3 + x], window[6 + x]);
  for (std::size_t y = 0; y < size; ++y) {
    const auto row = Transform::filter(columns[0][y], columns[1][y], columns[2][y]);
    std::copy(row.begin(), row.end(), to + y * size);
  }
}

template <class Transform>
KeptBytes panels_of(const ConvolutionGeometry& picture, const Buffer& filter) {
  constexpr std::size_t elements = Transform::size * Transform::size;
  auto bytes = Buffer::uninitialized(panel_floats(picture, elements) * sizeof(float));
  const std::span<float> panels = bytes.as<float>();
  const std::size_t matrix = panels.size() / elements;
  const float* const windows = filter.as<float>().data();
  // Transforms a block of outputs by a block of inputs at a time. The same element of different
  // matrices lies at strides of powers of two, which would conflict in the cache.
  const std::size_t floats = picture.block;
  constexpr std::size_t most = 16;
  std::array<std::array<std::array<float, most>, most>, elements> block;
  for (std::size_t out = 0; out < picture.out_blocks(); ++out)
    for (std::size_t in = 0; in < picture.in_blocks(); ++in) {
      block = {};
      const std::size_t outputs = std::min(floats, picture.out_channels - out * floats);
      const std::size_t inputs = std::min(floats, picture.in_channels - in * floats);
      for (std::size_t o = 0; o < outputs; ++o)
        for (std::size_t i = 0; i < inputs; ++i) {
          std::array<double, elements> transformed;
          transform<Transform>(
              windows + ((out * floats + o) * picture.in_channels + in * floats + i) * 9,
              transformed.data());
          for (std::size_t e = 0; e < elements; ++e)
            block[e][i][o] = static_cast<float>(transformed[e]);
        }
      const std::size_t first = out / most_columns * most_columns;
      const std::size_t columns = std::min(most_columns, picture.out_blocks() - first);
      for (std::size_t e = 0; e < elements; ++e) {
        float* to = panels.data() + e * matrix + first * picture.in_blocks() * floats * floats +
                    (in * floats * columns + out - first) * floats;
        for (std::size_t i = 0; i < floats; ++i, to += columns * floats)
          std::copy_n(block[e][i].begin(), floats, to);
      }
    }
  return kept_once(std::make_shared<const Buffer>(std::move(bytes)));
}

}  // namespace

KeptBytes filter_panels(const ConvolutionGeometry& picture, const Buffer& filter,
                        std::size_t results) {
  return results == 2 ? panels_of<TileTransform<2>>(picture, filter)
                      : panels_of<TileTransform<4>>(picture, filter);
}

}  // namespace polychron::kernels::direct
