// Pooling against plain loops.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(pooling)

namespace {

struct Setting {
  std::array<std::int64_t, 2> kernel{2, 2}, strides{1, 1}, begin{0, 0}, end{0, 0};
  bool ceil = false, count_padding = false, largest = false;
};

/// ONNX's definition, by loops over output and window.
Value pool(const Value& x, const Setting& s) {
  const std::int64_t h = x.shape[2], w = x.shape[3];
  const auto size = [&](std::size_t d) {
    const auto in = d == 0 ? h : w;
    const auto room = in + s.begin[d] + s.end[d] - s.kernel[d];
    auto out = (room + (s.ceil ? s.strides[d] - 1 : 0)) / s.strides[d] + 1;
    if (s.ceil && (out - 1) * s.strides[d] >= in + s.begin[d]) --out;
    return out;
  };
  Value y = floats({x.shape[0], x.shape[1], static_cast<std::uint32_t>(size(0)),
                    static_cast<std::uint32_t>(size(1))},
                   {});
  for (std::size_t plane = 0; plane < std::size_t{x.shape[0]} * x.shape[1]; ++plane)
    for (std::int64_t i = 0; i < size(0); ++i)
      for (std::int64_t j = 0; j < size(1); ++j) {
        double sum = 0, most = -1e30, cells = 0;
        for (std::int64_t k = 0; k < s.kernel[0]; ++k)
          for (std::int64_t l = 0; l < s.kernel[1]; ++l) {
            const auto p = i * s.strides[0] + k - s.begin[0];
            const auto q = j * s.strides[1] + l - s.begin[1];
            if (p >= h + s.end[0] || q >= w + s.end[1]) continue;
            const bool inside = p >= 0 && q >= 0 && p < h && q < w;
            if (inside || s.count_padding) cells += 1;
            if (!inside) continue;
            const auto value = x.data[plane * static_cast<std::size_t>(h * w) +
                                      static_cast<std::size_t>(p * w + q)];
            sum += value;
            most = std::max(most, value);
          }
        y.data.push_back(s.largest ? most : sum / cells);
      }
  return y;
}

void pools(Attributes attributes, Setting setting, Shape shape = {1, 2, 7, 8}) {
  const auto x = noise(shape);
  attributes.push_back({"kernel_shape", Ints{setting.kernel[0], setting.kernel[1]}});
  attributes.push_back({"strides", Ints{setting.strides[0], setting.strides[1]}});
  for (const bool largest : {false, true}) {
    auto model = Model().node(largest ? "MaxPool" : "AveragePool", {"x"}, {"y"}, attributes);
    setting.largest = largest;
    BOOST_TEST_CONTEXT((largest ? "max" : "average"))
    check(model, {{"x", x}}, {{"y", pool(x, setting)}});
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(windows_and_strides) {
  pools({}, {{2, 2}, {1, 1}});
  pools({}, {{3, 2}, {3, 2}});
}

BOOST_AUTO_TEST_CASE(padding_is_not_counted) {
  pools({{"pads", Ints{1, 0, 1, 1}}}, {{3, 3}, {2, 2}, {1, 0}, {1, 1}});
  pools({{"auto_pad", "SAME_UPPER"}}, {{2, 3}, {1, 1}, {0, 1}, {1, 1}});
  pools({{"auto_pad", "SAME_LOWER"}}, {{2, 3}, {1, 1}, {1, 1}, {0, 1}});
}

BOOST_AUTO_TEST_CASE(padding_is_counted_on_demand) {
  const auto x = noise({1, 2, 7, 8});
  const Setting setting{{3, 3}, {2, 2}, {1, 0}, {1, 1}, false, true};
  check(Model().node("AveragePool", {"x"}, {"y"},
                     {{"kernel_shape", Ints{3, 3}},
                      {"strides", Ints{2, 2}},
                      {"pads", Ints{1, 0, 1, 1}},
                      {"count_include_pad", 1}}),
        {{"x", x}}, {{"y", pool(x, setting)}});
}

BOOST_AUTO_TEST_CASE(ceil_mode_rounds_up_but_never_starts_in_the_padding) {
  pools({{"ceil_mode", 1}}, {{2, 2}, {2, 2}, {0, 0}, {0, 0}, true});
  pools({{"ceil_mode", 1}}, {{3, 3}, {2, 2}, {0, 0}, {0, 0}, true});
  pools({{"ceil_mode", 1}, {"pads", Ints{1, 1, 1, 1}}}, {{2, 2}, {2, 2}, {1, 1}, {1, 1}, true},
        {1, 1, 5, 5});
}

BOOST_AUTO_TEST_CASE(one_dimension) {
  check(Model().node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}}),
        {{"x", ramp({1, 1, 6})}}, {{"y", floats({1, 1, 3}, {1, 3, 5})}});
  check(
      Model().node("AveragePool", {"x"}, {"y"}, {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}}),
      {{"x", ramp({1, 1, 4})}}, {{"y", floats({1, 1, 4}, {0.5, 1, 2, 2.5})}});
}

BOOST_AUTO_TEST_CASE(whole_planes) {
  const auto x = ramp({1, 2, 2, 3});
  check(Model().node("GlobalAveragePool", {"x"}, {"y"}), {{"x", x}},
        {{"y", floats({1, 2, 1, 1}, {2.5, 8.5})}});
  check(Model().node("GlobalMaxPool", {"x"}, {"y"}), {{"x", x}},
        {{"y", floats({1, 2, 1, 1}, {5, 11})}});
  check(Model().node("GlobalAveragePool", {"x"}, {"y"}), {{"x", ramp({1, 2, 3})}},
        {{"y", floats({1, 2, 1}, {1, 4})}});
}

BOOST_AUTO_TEST_CASE(where_the_largest_are) {
  check(Model().node(
            "MaxPool", {"x"}, {"y", "at"},
            {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{1, 2}}, {"pads", Ints{0, 0, 1, 0}}}),
        {{"x", floats({1, 1, 2, 4}, {1, 5, 3, 3, 6, 2, 7, 8})}},
        {{"y", floats({1, 1, 2, 2}, {6, 8, 6, 8})}, {"at", longs({1, 1, 2, 2}, {4, 7, 4, 7})}});
}

// They count through the whole tensor, batches and channels too, and not through the padding.
BOOST_AUTO_TEST_CASE(where_the_largest_are_in_the_whole_tensor) {
  const auto places = [](const Attributes& attributes) {
    return Model().node("MaxPool", {"x"}, {"y", "at"}, attributes);
  };
  check(places({{"kernel_shape", Ints{2, 2}}}),
        {{"x", floats({2, 2, 2, 2}, {1, 2, 3, 4, 8, 7, 6, 5, 1, 9, 3, 4, 1, 2, 6, 5})}},
        {{"y", floats({2, 2, 1, 1}, {4, 8, 9, 6})}, {"at", longs({2, 2, 1, 1}, {3, 4, 9, 14})}});
  check(places({{"kernel_shape", Ints{1, 2}}, {"pads", Ints{0, 1, 0, 1}}}),
        {{"x", floats({1, 1, 1, 2}, {-3, -5})}},
        {{"y", floats({1, 1, 1, 3}, {-3, -3, -5})}, {"at", longs({1, 1, 1, 3}, {0, 0, 1})}});
  check(places({{"kernel_shape", Ints{1, 2}}, {"dilations", Ints{1, 3}}}),
        {{"x", floats({1, 1, 1, 5}, {9, 1, 2, 8, 3})}},
        {{"y", floats({1, 1, 1, 2}, {9, 3})}, {"at", longs({1, 1, 1, 2}, {0, 4})}});
  // The first of equal ones.
  check(places({{"kernel_shape", Ints{2, 2}}}), {{"x", floats({1, 1, 2, 2}, {1, 2, 2, 2})}},
        {{"y", floats({1, 1, 1, 1}, {2})}, {"at", longs({1, 1, 1, 1}, {1})}});
  // Down the columns: place 5 is the second row's third.
  check(places({{"kernel_shape", Ints{2, 2}}, {"storage_order", 1}}),
        {{"x", floats({1, 1, 2, 3}, {1, 5, 3, 2, 4, 9})}},
        {{"y", floats({1, 1, 1, 2}, {5, 9})}, {"at", longs({1, 1, 1, 2}, {2, 5})}});
}

BOOST_AUTO_TEST_CASE(three_dimensions) {
  const auto x = ramp({1, 1, 2, 2, 2});
  const Attributes window{{"kernel_shape", Ints{2, 2, 2}}};
  check(Model().node("MaxPool", {"x"}, {"y"}, window), {{"x", x}},
        {{"y", floats({1, 1, 1, 1, 1}, {7})}});
  check(Model().node("AveragePool", {"x"}, {"y"}, window), {{"x", x}},
        {{"y", floats({1, 1, 1, 1, 1}, {3.5})}});
  // With padding of one plane before: its zeros count only if they shall.
  auto padded = window;
  padded.push_back({"pads", Ints{1, 0, 0, 0, 0, 0}});
  check(Model().node("AveragePool", {"x"}, {"y"}, padded), {{"x", x}},
        {{"y", floats({1, 1, 2, 1, 1}, {1.5, 3.5})}});
  padded.push_back({"count_include_pad", 1});
  check(Model().node("AveragePool", {"x"}, {"y"}, padded), {{"x", x}},
        {{"y", floats({1, 1, 2, 1, 1}, {0.75, 3.5})}});
}

BOOST_AUTO_TEST_CASE(norms_of_windows) {
  check(Model().node("LpPool", {"x"}, {"y"}, {{"kernel_shape", Ints{2}}}),
        {{"x", floats({1, 1, 3}, {3, -4, 0})}}, {{"y", floats({1, 1, 2}, {5, 4})}});
  check(Model().node("GlobalLpPool", {"x"}, {"y"}, {{"p", 1}}),
        {{"x", floats({1, 1, 3}, {3, -4, 0})}}, {{"y", floats({1, 1, 1}, {7})}});
}

BOOST_AUTO_TEST_CASE(norms_of_volumes) {
  // Two planes of two rows: [3, 4] and [0, 12]; padding counts as 0.
  const auto x = floats({1, 1, 2, 2, 1}, {3, 4, 0, 12});
  check(Model(18).node("LpPool", {"x"}, {"y"}, {{"kernel_shape", Ints{2, 2, 1}}}), {{"x", x}},
        {{"y", floats({1, 1, 1, 1, 1}, {13})}});
  check(
      Model(18).node("LpPool", {"x"}, {"y"},
                     {{"kernel_shape", Ints{1, 2, 1}}, {"pads", Ints{0, 1, 0, 0, 0, 0}}, {"p", 1}}),
      {{"x", x}}, {{"y", floats({1, 1, 2, 2, 1}, {3, 7, 0, 12})}});
}

BOOST_AUTO_TEST_CASE(what_cannot_be_pooled) {
  const Values x{{"x", ramp({1, 1, 4, 4})}};
  cannot(Model().node("MaxPool", {"x"}, {"y", "at"}, {{"kernel_shape", Ints{1, 2, 2}}}),
         {{"x", ramp({1, 1, 2, 4, 4})}}, ErrorKind::not_supported, "output 'Indices'");
  cannot(Model().node("MaxPool", {"x"}, {"y"}), x, ErrorKind::bad_data,
         "'kernel_shape' is missing");
  cannot(Model().node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{9, 9}}, {"ceil_mode", 1}}), x,
         ErrorKind::bad_data, "larger than the padded input");
  cannot(Model().node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Ints{0, 1}}}), x,
         ErrorKind::not_supported, "'kernel_shape' has 0");
}

BOOST_AUTO_TEST_SUITE_END()
