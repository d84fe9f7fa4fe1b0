// Conv and ConvTranspose against plain loops.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(convolution)

namespace {

struct Setting {
  std::array<std::uint32_t, 2> strides{1, 1}, dilations{1, 1}, begin{0, 0}, end{0, 0}, extra{0, 0};
  std::uint32_t groups = 1;
};

std::uint32_t at(const Value& v, std::size_t d) { return v.shape[d]; }

double& element(Value& v, std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
  return v.data[((a * at(v, 1) + b) * at(v, 2) + c) * at(v, 3) + d];
}

/// Calls f(output position, input position, filter position) for each pair that meets. Positions
/// are of the larger side (`wide`) and the smaller one (`narrow`) of a convolution with these
/// settings.
template <class F>
void meet(const Setting& s, const Value& wide, const Value& narrow, const Value& filter, F f) {
  for (std::uint32_t i = 0; i < at(narrow, 2); ++i)
    for (std::uint32_t j = 0; j < at(narrow, 3); ++j)
      for (std::uint32_t k = 0; k < at(filter, 2); ++k)
        for (std::uint32_t l = 0; l < at(filter, 3); ++l) {
          const auto y = i * s.strides[0] + k * s.dilations[0] - s.begin[0];
          const auto x = j * s.strides[1] + l * s.dilations[1] - s.begin[1];
          if (y < at(wide, 2) && x < at(wide, 3)) f(y, x, i, j, k, l);  // negative ones wrap
        }
}

Value conv(Value x, Value w, const Reals& bias, const Setting& s) {
  const auto size = [&](std::size_t d) {
    const auto extent = (at(w, 2 + d) - 1) * s.dilations[d] + 1;
    return (at(x, 2 + d) + s.begin[d] + s.end[d] - extent) / s.strides[d] + 1;
  };
  auto y = ramp({at(x, 0), at(w, 0), size(0), size(1)}, 0, 0);
  const auto out = at(w, 0) / s.groups;
  for (std::uint32_t n = 0; n < at(x, 0); ++n)
    for (std::uint32_t o = 0; o < at(w, 0); ++o) {
      for (std::uint32_t c = 0; c < at(w, 1); ++c)
        meet(s, x, y, w, [&](auto p, auto q, auto i, auto j, auto k, auto l) {
          element(y, n, o, i, j) +=
              element(x, n, o / out * at(w, 1) + c, p, q) * element(w, o, c, k, l);
        });
      for (std::uint32_t i = 0; i < size(0) * size(1) && !bias.empty(); ++i)
        y.data[(n * at(w, 0) + o) * size(0) * size(1) + i] += bias[o];
    }
  return y;
}

Value conv_transpose(Value x, Value w, const Setting& s) {
  const auto size = [&](std::size_t d) {
    const auto extent = (at(w, 2 + d) - 1) * s.dilations[d] + 1;
    return (at(x, 2 + d) - 1) * s.strides[d] + extent + s.extra[d] - s.begin[d] - s.end[d];
  };
  auto y = ramp({at(x, 0), at(w, 1) * s.groups, size(0), size(1)}, 0, 0);
  const auto in = at(x, 1) / s.groups;
  for (std::uint32_t n = 0; n < at(x, 0); ++n)
    for (std::uint32_t c = 0; c < at(x, 1); ++c)
      for (std::uint32_t o = 0; o < at(w, 1); ++o)
        meet(s, y, x, w, [&](auto p, auto q, auto i, auto j, auto k, auto l) {
          element(y, n, c / in * at(w, 1) + o, p, q) +=
              element(x, n, c, i, j) * element(w, c, o, k, l);
        });
  return y;
}

Model model(const char* op, const Attributes& attributes, bool bias = false) {
  const std::vector<std::string> inputs{"x", "w", "b"};
  return Model().node(op, {inputs.begin(), inputs.end() - (bias ? 0 : 1)}, {"y"}, attributes);
}

}  // namespace

BOOST_AUTO_TEST_CASE(conv_plain_and_with_bias) {
  const auto x = noise({2, 3, 5, 6});
  const auto w = noise({4, 3, 3, 2}, 2);
  check(model("Conv", {}), {{"x", x}, {"w", w}}, {{"y", conv(x, w, {}, {})}});
  const auto b = noise({4}, 3);
  check(model("Conv", {{"kernel_shape", Ints{3, 2}}}, true), {{"x", x}, {"w", w}, {"b", b}},
        {{"y", conv(x, w, b.data, {})}});
}

BOOST_AUTO_TEST_CASE(conv_strides_pads_dilations_groups) {
  const auto x = noise({1, 4, 7, 8});
  const auto w = noise({6, 2, 3, 2}, 2);
  const Setting setting{{2, 1}, {1, 2}, {1, 0}, {2, 1}, {0, 0}, 2};
  check(model("Conv", {{"strides", Ints{2, 1}},
                       {"dilations", Ints{1, 2}},
                       {"pads", Ints{1, 0, 2, 1}},
                       {"group", 2}}),
        {{"x", x}, {"w", w}}, {{"y", conv(x, w, {}, setting)}});
}

BOOST_AUTO_TEST_CASE(conv_depthwise) {
  const auto x = noise({1, 4, 5, 5});
  const auto w = noise({4, 1, 3, 3}, 2);
  const Setting setting{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 4};
  check(model("Conv", {{"pads", Ints{1, 1, 1, 1}}, {"group", 4}}), {{"x", x}, {"w", w}},
        {{"y", conv(x, w, {}, setting)}});
}

BOOST_AUTO_TEST_CASE(conv_automatic_padding) {
  const auto x = noise({1, 1, 5, 6});
  const auto w = noise({1, 1, 3, 4}, 2);
  const auto padded = [&](const char* mode) {
    return model("Conv", {{"auto_pad", mode}, {"strides", Ints{2, 2}}});
  };
  // Height: (3 - 1) 2 + 3 - 5 = 2; width: (3 - 1) 2 + 4 - 6 = 2; with stride 1 three columns.
  const Setting same{{2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1};
  check(padded("SAME_UPPER"), {{"x", x}, {"w", w}}, {{"y", conv(x, w, {}, same)}});
  check(padded("SAME_LOWER"), {{"x", x}, {"w", w}}, {{"y", conv(x, w, {}, same)}});
  check(padded("VALID"), {{"x", x}, {"w", w}},
        {{"y", conv(x, w, {}, {{2, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, 1})}});
  const Setting upper{{1, 1}, {1, 1}, {1, 1}, {1, 2}, {0, 0}, 1};
  const Setting lower{{1, 1}, {1, 1}, {1, 2}, {1, 1}, {0, 0}, 1};
  check(model("Conv", {{"auto_pad", "SAME_UPPER"}}), {{"x", x}, {"w", w}},
        {{"y", conv(x, w, {}, upper)}});
  check(model("Conv", {{"auto_pad", "SAME_LOWER"}}), {{"x", x}, {"w", w}},
        {{"y", conv(x, w, {}, lower)}});
}

BOOST_AUTO_TEST_CASE(conv_of_one_dimension) {
  const auto x = noise({1, 2, 9});
  const auto w = noise({3, 2, 3}, 2);
  auto x2 = x, w2 = w;
  x2.shape = {1, 2, 1, 9};
  w2.shape = {3, 2, 1, 3};
  auto y = conv(x2, w2, {}, {{1, 2}, {1, 1}, {0, 1}, {0, 1}, {0, 0}, 1});
  y.shape = {1, 3, at(y, 3)};
  check(model("Conv", {{"strides", Ints{2}}, {"pads", Ints{1, 1}}}), {{"x", x}, {"w", w}},
        {{"y", y}});
}

BOOST_AUTO_TEST_CASE(conv_transpose_plain_and_with_settings) {
  const auto x = noise({2, 4, 3, 4});
  const auto w = noise({4, 3, 2, 2}, 2);
  check(model("ConvTranspose", {{"strides", Ints{2, 2}}}), {{"x", x}, {"w", w}},
        {{"y", conv_transpose(x, w, {{2, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}, 1})}});
  const Setting setting{{2, 3}, {1, 1}, {1, 0}, {0, 1}, {1, 2}, 2};
  check(model("ConvTranspose", {{"strides", Ints{2, 3}},
                                {"pads", Ints{1, 0, 0, 1}},
                                {"output_padding", Ints{1, 2}},
                                {"group", 2}}),
        {{"x", x}, {"w", w}}, {{"y", conv_transpose(x, w, setting)}});
}

BOOST_AUTO_TEST_CASE(conv_transpose_to_a_given_size) {
  const auto x = noise({1, 1, 3, 3});
  const auto w = noise({1, 1, 3, 3}, 2);
  // (3 - 1) 2 + 3 = 7: one row too many, which goes from the beginning, unless SAME_UPPER says the
  // end.
  const Setting lower{{2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 1};
  const Setting upper{{2, 2}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, 1};
  const auto to = [&](Attributes more) {
    more.push_back({"strides", Ints{2, 2}});
    return model("ConvTranspose", more);
  };
  check(to({{"output_shape", Ints{6, 6}}}), {{"x", x}, {"w", w}},
        {{"y", conv_transpose(x, w, lower)}});
  check(to({{"auto_pad", "SAME_LOWER"}}), {{"x", x}, {"w", w}},
        {{"y", conv_transpose(x, w, lower)}});
  check(to({{"auto_pad", "SAME_UPPER"}}), {{"x", x}, {"w", w}},
        {{"y", conv_transpose(x, w, upper)}});
}

BOOST_AUTO_TEST_CASE(three_dimensions) {
  // 0 ... 7 in a cube; the filter takes the first and the last corner of each 2 x 2 x 2.
  const auto x = ramp({1, 1, 2, 2, 2});
  const auto w = floats({1, 1, 2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 10});
  check(Model().node("Conv", {"x", "w", "b"}, {"y"}), {{"x", x}, {"w", w}, {"b", floats({1}, {5})}},
        {{"y", floats({1, 1, 1, 1, 1}, {75})}});
  check(Model().node("Conv", {"x", "w"}, {"y"},
                     {{"pads", Ints{1, 1, 1, 0, 0, 0}}, {"strides", Ints{2, 1, 1}}}),
        {{"x", x}, {"w", w}}, {{"y", floats({1, 1, 1, 2, 2}, {0, 10, 20, 30})}});
  // Each element spreads the filter: 1 at its place, 10 one further along all axes.
  const auto two = floats({1, 1, 2, 1, 1}, {1, 2});
  check(Model().node("ConvTranspose", {"x", "w"}, {"y"}, {{"strides", Ints{2, 1, 1}}}),
        {{"x", two}, {"w", w}},
        {{"y", floats({1, 1, 4, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 10, 2, 0, 0, 0, 0, 0, 0, 20})}});
}

BOOST_AUTO_TEST_CASE(windows_along_the_depth) {
  // Two pictures of two channels, three planes and one row.
  const auto x = ramp({2, 2, 3, 1, 2});
  const auto w = floats({2, 2, 2, 1, 1}, {1, 10, 100, 1000, 0, 0, 0, 1});
  check(Model().node("Conv", {"x", "w"}, {"y"}), {{"x", x}, {"w", w}},
        {{"y", floats({2, 2, 2, 1, 2}, {8620, 9731, 10842, 11953, 8, 9, 10, 11,  //
                                        21952, 23063, 24174, 25285, 20, 21, 22, 23})}});
}

BOOST_AUTO_TEST_CASE(what_cannot_be_convolved) {
  const Values four{{"x", ramp({1, 1, 3, 3, 3, 3})}, {"w", ramp({1, 1, 2, 2, 2, 2})}};
  cannot(model("Conv", {}), four, ErrorKind::not_supported, "more than three spatial dimensions");
  const Values two{{"x", ramp({1, 1, 3, 3})}, {"w", ramp({1, 1, 2, 2})}};
  cannot(model("Conv", {{"pads", Ints{-1, 0, 0, 0}}}), two, ErrorKind::not_supported,
         "attribute 'pads' has -1");
  cannot(model("Conv", {{"strides", Ints{1}}}), two, ErrorKind::bad_data,
         "'strides' has 1 entries");
  cannot(model("Conv", {{"kernel_shape", Ints{3, 3}}}), two, ErrorKind::bad_data, "kernel_shape");
  cannot(model("Conv", {{"auto_pad", "MAYBE"}}), two, ErrorKind::bad_data, "'MAYBE'");
  cannot(model("Conv", {}), {{"x", ramp({1, 1, 3, 3})}}, ErrorKind::bad_data, "reads 'w'");
}

BOOST_AUTO_TEST_SUITE_END()
