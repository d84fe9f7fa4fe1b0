// Resize in all its coordinate modes against a plain loop.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(resampling)

namespace {

struct Mode {
  std::string coordinates = "half_pixel", nearest = "round_prefer_floor";
  bool linear = false;
};

/// The position of output coordinate i of `out` on an axis of `in`, by ONNX's documentation.
double position(const Mode& mode, double i, double in, double out, double scale) {
  if (mode.coordinates == "asymmetric") return i / scale;
  if (mode.coordinates == "align_corners") return out == 1 ? 0 : i * (in - 1) / (out - 1);
  if (mode.coordinates == "pytorch_half_pixel" && out == 1) return 0;
  return (i + 0.5) / scale - 0.5;
}

/// One axis of a matrix after the other: `x` has rows of `in` elements.
Reals resize_rows(const Reals& x, std::size_t in, std::size_t out, double scale, const Mode& mode) {
  Reals y;
  const auto last = static_cast<double>(in - 1);
  for (std::size_t row = 0; row < x.size() / in; ++row)
    for (std::size_t i = 0; i < out; ++i) {
      auto p = position(mode, static_cast<double>(i), static_cast<double>(in),
                        static_cast<double>(out), scale);
      if (mode.linear) {
        p = std::clamp(p, 0.0, last);
        const auto low = static_cast<std::size_t>(p);
        const auto high = std::min(low + 1, in - 1);
        const auto share = p - static_cast<double>(low);
        y.push_back(x[row * in + low] * (1 - share) + x[row * in + high] * share);
        continue;
      }
      p = mode.nearest == "floor"               ? std::floor(p)
          : mode.nearest == "ceil"              ? std::ceil(p)
          : mode.nearest == "round_prefer_ceil" ? std::floor(p + 0.5)
                                                : std::ceil(p - 0.5);
      y.push_back(x[row * in + static_cast<std::size_t>(std::clamp(p, 0.0, last))]);
    }
  return y;
}

Reals transposed(const Reals& x, std::size_t columns) {
  Reals y;
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < x.size() / columns; ++r) y.push_back(x[r * columns + c]);
  return y;
}

/// [1, 1, h, w] to [1, 1, h2, w2].
Value expected(const Value& x, std::uint32_t h2, std::uint32_t w2, const Mode& mode,
               std::pair<double, double> scales = {0, 0}) {
  const auto h = x.shape[2], w = x.shape[3];
  if (scales.first == 0) scales = {double(h2) / h, double(w2) / w};
  const auto wide = resize_rows(x.data, w, w2, scales.second, mode);
  const auto high = resize_rows(transposed(wide, w2), h, h2, scales.first, mode);
  return floats({1, 1, h2, w2}, transposed(high, h2));
}

Model sized(const Mode& mode, const Ints& sizes, std::int64_t opset = 13) {
  return Model(opset)
      .node("Resize", {"x", "", "", "sizes"}, {"y"},
            {{"mode", mode.linear ? "linear" : "nearest"},
             {"coordinate_transformation_mode", mode.coordinates},
             {"nearest_mode", mode.nearest}})
      .initializer("sizes", list(sizes));
}

}  // namespace

BOOST_AUTO_TEST_CASE(nearest_in_every_mode) {
  const auto x = noise({1, 1, 4, 5});
  for (const auto* coordinates :
       {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
    for (const auto* nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
      for (const auto& [h, w] : {std::pair{8U, 10U}, std::pair{7U, 3U}, std::pair{1U, 5U}})
        BOOST_TEST_CONTEXT(coordinates << ", " << nearest << ", " << h << " x " << w) {
          const Mode mode{coordinates, nearest, false};
          check(sized(mode, {1, 1, h, w}), {{"x", x}}, {{"y", expected(x, h, w, mode)}});
        }
}

BOOST_AUTO_TEST_CASE(linear_in_every_mode) {
  const auto x = noise({1, 1, 4, 5});
  for (const auto* coordinates :
       {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"})
    for (const auto& [h, w] : {std::pair{8U, 10U}, std::pair{7U, 3U}, std::pair{1U, 5U}})
      BOOST_TEST_CONTEXT(coordinates << ", " << h << " x " << w) {
        const Mode mode{coordinates, "floor", true};
        check(sized(mode, {1, 1, h, w}), {{"x", x}}, {{"y", expected(x, h, w, mode)}});
      }
}

BOOST_AUTO_TEST_CASE(scales_that_sizes_do_not_tell) {
  const auto x = noise({1, 1, 4, 5});
  const Mode mode{"asymmetric", "floor", false};
  // floor(5 * 1.5) is 7, which would tell a scale of 1.4.
  check(Model(11)
            .node("Resize", {"x", "roi", "scales"}, {"y"},
                  {{"coordinate_transformation_mode", mode.coordinates},
                   {"nearest_mode", mode.nearest}})
            .initializer("roi", floats({0}, {}))
            .initializer("scales", floats({4}, {1, 1, 2, 1.5})),
        {{"x", x}}, {{"y", expected(x, 8, 7, mode, {2, 1.5})}});
}

BOOST_AUTO_TEST_CASE(the_forms_of_old_opsets) {
  const auto x = noise({1, 1, 3, 2});
  const Mode mode{"asymmetric", "floor", false};
  for (const auto& [op, opset] : {std::pair{"Upsample", 9}, std::pair{"Resize", 10}})
    check(Model(opset).node(op, {"x", "s"}, {"y"}).initializer("s", floats({4}, {1, 1, 2, 2})),
          {{"x", x}}, {{"y", expected(x, 6, 4, mode)}});
}

BOOST_AUTO_TEST_CASE(some_axes_only) {
  const auto x = noise({1, 1, 3, 2});
  const Mode mode;
  check(Model(18)
            .node("Resize", {"x", "", "", "sizes"}, {"y"}, {{"axes", Ints{3, 2}}})
            .initializer("sizes", list({4, 6})),
        {{"x", x}}, {{"y", expected(x, 6, 4, mode)}});
  check(sized(mode, {1, 1, 3, 2}), {{"x", x}}, {{"y", x}});
}

BOOST_AUTO_TEST_CASE(sizes_that_keep_the_aspect) {
  const auto x = noise({1, 1, 3, 5});
  for (const bool linear : {false, true}) {
    const Mode mode{"half_pixel", "round_prefer_floor", linear};
    const auto kept = [&](const std::string& policy, const Ints& axes, const Ints& sizes) {
      return Model(18)
          .node("Resize", {"x", "", "", "sizes"}, {"y"},
                {{"mode", linear ? "linear" : "nearest"},
                 {"keep_aspect_ratio_policy", policy},
                 {"axes", axes}})
          .initializer("sizes", list(sizes));
    };
    // 7 of 3 rows, 9 of 5 columns: scales of 2.33 and 1.8, of which one is both.
    const double wider = 7.0 / 3, narrower = 9.0 / 5;
    check(kept("not_larger", {2, 3}, {7, 9}), {{"x", x}},
          {{"y", expected(x, 5, 9, mode, {narrower, narrower})}});
    check(kept("not_smaller", {2, 3}, {7, 9}), {{"x", x}},
          {{"y", expected(x, 7, 12, mode, {wider, wider})}});
    // Axes that are not named have no say.
    check(kept("not_larger", {3}, {9}), {{"x", x}},
          {{"y", expected(x, 3, 9, mode, {1, narrower})}});
    check(kept("stretch", {2, 3}, {7, 9}), {{"x", x}}, {{"y", expected(x, 7, 9, mode)}});
  }
  cannot(
      Model(18)
          .node("Resize", {"x", "", "", "sizes"}, {"y"}, {{"keep_aspect_ratio_policy", "larger"}})
          .initializer("sizes", list({1, 1, 7, 9})),
      {{"x", x}}, ErrorKind::bad_data, "'larger'");
}

BOOST_AUTO_TEST_CASE(cubic_and_wide_kernels) {
  const auto along = [](std::vector<std::int64_t> size, Attributes attributes) {
    return Model(18)
        .node("Resize", {"x", "", "", "sizes"}, {"y"}, attributes)
        .initializer("sizes", list(size));
  };
  // Halfway between elements the kernel of a = -0.75 is -3/32, 19/32, 19/32, -3/32.
  const auto middle = (-3 * 1 + 19 * 2 + 19 * 4 - 3 * 8) / 32.0;
  check(along({2}, {{"mode", "cubic"}}), {{"x", floats({4}, {1, 2, 4, 8})}},
        {{"y", floats({2}, {(-3 * 1 + 19 * 1 + 19 * 2 - 3 * 4) / 32.0,
                            (-3 * 2 + 19 * 4 + 19 * 8 - 3 * 8) / 32.0})}});
  check(along({1}, {{"mode", "cubic"}}), {{"x", floats({4}, {1, 2, 4, 8})}},
        {{"y", floats({1}, {middle})}});
  // Antialiased, the one takes eight elements, with weights 1, 3, 5, 7, 7, 5, 3, 1 of 32.
  check(along({1}, {{"mode", "linear"}, {"antialias", 1}}), {{"x", floats({4}, {0, 0, 32, 0})}},
        {{"y", floats({1}, {7})}});
}

BOOST_AUTO_TEST_CASE(regions) {
  const auto model = Model(13)
                         .node("Resize", {"x", "region", "", "sizes"}, {"y"},
                               {{"mode", "linear"},
                                {"coordinate_transformation_mode", "tf_crop_and_resize"},
                                {"extrapolation_value", 9.0}})
                         .initializer("region", floats({2}, {0.5, 1.5}))
                         .initializer("sizes", list({3}));
  // Positions 1.5, 3 and 4.5 of 0 to 3: the last lies outside.
  check(model, {{"x", floats({4}, {0, 10, 20, 30})}}, {{"y", floats({3}, {15, 30, 9})}});
  for (const double part : {std::nan(""), HUGE_VAL, 1e30}) {
    Model nowhere(13);
    nowhere
        .node("Resize", {"x", "region", "", "sizes"}, {"y"},
              {{"coordinate_transformation_mode", "tf_crop_and_resize"}})
        .initializer("region", floats({2}, {0.5, part}))
        .initializer("sizes", list({3}));
    cannot(nowhere, {{"x", ramp({4})}}, ErrorKind::bad_data, "the region");
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_resized) {
  const Values x{{"x", ramp({1, 1, 2, 2})}};
  const auto resize = [](const Attributes& attributes) {
    return Model(19)
        .node("Resize", {"x", "", "", "sizes"}, {"y"}, attributes)
        .initializer("sizes", list({1, 1, 4, 4}));
  };
  cannot(resize({{"mode", "quartic"}}), x, ErrorKind::bad_data, "'quartic'");
  cannot(resize({{"coordinate_transformation_mode", "tf_crop_and_resize"}}), x, ErrorKind::bad_data,
         "the region is missing");
  cannot(resize({{"coordinate_transformation_mode", "sideways"}}), x, ErrorKind::bad_data,
         "'sideways'");
  cannot(Model().node("Resize", {"x"}, {"y"}), x, ErrorKind::bad_data, "neither scales nor sizes");
  cannot(sized({}, {1, 1, 0, 4}), x, ErrorKind::not_supported, "a size of 0");
  cannot(sized({}, {1, 4}), x, ErrorKind::bad_data, "one size for each axis");
  cannot(sized({"half_pixel", "up"}, {1, 1, 4, 4}), x, ErrorKind::bad_data, "'up'");
  // A few bytes of a file ask for more positions than there is time or memory for.
  for (const std::int64_t far : {std::int64_t{1} << 25, std::int64_t{1} << 31, INT64_C(0x23000008)})
    for (const bool linear : {false, true})
      cannot(sized({"align_corners", "floor", linear}, {1, 1, 4, far - 1}), x,
             ErrorKind::not_supported, "which is not resample2d's");
}

BOOST_AUTO_TEST_SUITE_END()
