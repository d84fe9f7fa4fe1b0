// Random calls of matrix products, convolutions, pooling and resampling.
#pragma once

#include "tests/ops/random.hpp"

namespace polychron::test::spatial {

inline Case matmul(const ops::Row&, Random& random) {
  const auto batch = random.shape(0, 4);
  const auto m = random.number(1, 9), k = random.number(1, 9), n = random.number(1, 9);
  auto a = random.narrower(batch), b = random.narrower(batch);
  auto result = largest({a, b});
  a.insert(a.end(), {m, k});
  b.insert(b.end(), {k, n});
  result.insert(result.end(), {m, n});
  return {{a, b}, {}, {result}};
}

inline Case gemm(const ops::Row&, Random& random) {
  const auto m = random.number(1, 9), k = random.number(1, 9), n = random.number(1, 9);
  GemmAttributes attributes{.a_transpose = random.coin(), .b_transpose = random.coin()};
  if (random.coin()) attributes.alpha = random.quarter();
  if (random.coin()) attributes.beta = random.quarter();
  return {{attributes.a_transpose ? Shape{k, m} : Shape{m, k},
           attributes.b_transpose ? Shape{n, k} : Shape{k, n}, random.narrower({m, n})},
          attributes,
          {{m, n}}};
}

inline Case conv2d(const ops::Row&, Random& random) {
  Conv2dAttributes attributes;
  attributes.padding = random.list(4, 0, 4);
  attributes.strides = random.list(2, 1, 3);
  attributes.dilations = random.list(2, 1, 3);
  attributes.groups = random.number(1, 3);
  attributes.input_layout = InputOperandLayout(random.number(0, 1));
  attributes.filter_layout = Conv2dFilterOperandLayout(random.number(0, 3));
  const auto channels = random.number(1, 4), outputs = attributes.groups * random.number(1, 4);
  const auto window = random.list(2, 1, 3);
  const auto size = random.list(2, 7, 12);
  Sizes results;
  for (std::size_t i = 0; i < 2; ++i)
    results.push_back(windows(size[i], attributes.padding[2 * i] + attributes.padding[2 * i + 1],
                              (window[i] - 1) * attributes.dilations[i] + 1,
                              attributes.strides[i]));
  constexpr std::string_view orders[] = {"oihw", "hwio", "ohwi", "ihwo"};
  const auto layout = text(attributes.input_layout);
  const auto order = orders[static_cast<std::size_t>(attributes.filter_layout)];
  return {{ordered({2, channels * attributes.groups, size[0], size[1]}, "nchw", layout),
           ordered({outputs, channels, window[0], window[1]}, "oihw", order),
           {outputs}},
          attributes,
          {ordered({2, outputs, results[0], results[1]}, "nchw", layout)}};
}

inline Case conv_transpose2d(const ops::Row&, Random& random) {
  ConvTranspose2dAttributes attributes;
  attributes.padding = random.list(4, 0, 1);
  attributes.strides = random.list(2, 1, 3);
  attributes.dilations = random.list(2, 1, 3);
  attributes.groups = random.number(1, 3);
  for (std::size_t i = 0; i < 2; ++i)
    attributes.output_padding[i] = random.number(0, attributes.strides[i] - 1);
  attributes.input_layout = InputOperandLayout(random.number(0, 1));
  attributes.filter_layout = ConvTranspose2dFilterOperandLayout(random.number(0, 2));
  const auto channels = attributes.groups * random.number(1, 4), outputs = random.number(1, 4);
  const auto window = random.list(2, 1, 3);
  const auto size = random.list(2, 3, 8);
  Sizes results;
  for (std::size_t i = 0; i < 2; ++i) {
    Size end = 0;  // behind the last place that any input element reaches
    for (Size at = 0; at < size[i]; ++at)
      end =
          std::max(end, at * attributes.strides[i] + (window[i] - 1) * attributes.dilations[i] + 1);
    results.push_back(end - attributes.padding[2 * i] - attributes.padding[2 * i + 1] +
                      attributes.output_padding[i]);
  }
  if (random.coin()) attributes.output_sizes = results;
  constexpr std::string_view orders[] = {"iohw", "hwoi", "ohwi"};
  const auto layout = text(attributes.input_layout);
  const auto order = orders[static_cast<std::size_t>(attributes.filter_layout)];
  return {{ordered({2, channels, size[0], size[1]}, "nchw", layout),
           ordered({channels, outputs, window[0], window[1]}, "iohw", order),
           {outputs * attributes.groups}},
          attributes,
          {ordered({2, outputs * attributes.groups, results[0], results[1]}, "nchw", layout)}};
}

inline Case pool2d(const ops::Row&, Random& random) {
  Pool2dAttributes attributes;
  const auto size = random.list(2, 7, 12);
  if (random.coin()) attributes.window_dimensions = random.list(2, 1, 3);
  attributes.padding = random.list(4, 0, 2);
  attributes.strides = random.list(2, 1, 3);
  if (attributes.window_dimensions) attributes.dilations = random.list(2, 1, 3);
  attributes.layout = InputOperandLayout(random.number(0, 1));
  attributes.output_shape_rounding = RoundingType(random.number(0, 1));
  Sizes results;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto window = attributes.window_dimensions.value_or(size)[i];
    const auto reach = (window - 1) * attributes.dilations[i] + 1;
    const auto padding = attributes.padding[2 * i] + attributes.padding[2 * i + 1];
    auto count = windows(size[i], padding, reach, attributes.strides[i]);
    const bool rest = (count - 1) * attributes.strides[i] + reach < size[i] + padding;
    if (rest && attributes.output_shape_rounding == RoundingType::ceil) ++count;
    results.push_back(count);
  }
  if (random.coin()) attributes.output_sizes = results;
  const auto layout = text(attributes.layout);
  return {{ordered({2, 3, size[0], size[1]}, "nchw", layout)},
          attributes,
          {ordered({2, 3, results[0], results[1]}, "nchw", layout)}};
}

inline Case resample2d(const ops::Row&, Random& random) {
  const auto shape = random.shape(4, 4);
  auto axes = random.some(4);
  if (axes.size() < 2) axes = {3, 1};
  axes.resize(2);
  const auto factors = random.list(2, 1, 4);
  Resample2dAttributes attributes;
  attributes.axes = axes;
  attributes.mode = InterpolationMode(random.number(0, 1));
  auto result = shape;
  for (std::size_t i = 0; i < 2; ++i) result[axes[i]] *= factors[i];
  attributes.scales = {static_cast<float>(factors[0]), static_cast<float>(factors[1])};
  if (random.coin()) attributes.sizes = Sizes{result[axes[0]], result[axes[1]]};
  return {{shape}, attributes, {result}};
}

}  // namespace polychron::test::spatial
