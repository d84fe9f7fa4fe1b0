// Operators that pick elements.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(indexing)

namespace {

Model slice(const Ints& starts, const Ints& ends, const Ints& axes, const Ints& steps) {
  return Model()
      .node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"})
      .initializer("starts", list(starts))
      .initializer("ends", list(ends))
      .initializer("axes", list(axes))
      .initializer("steps", list(steps));
}

// Within the integers that a double holds exactly, since the fixture keeps numbers in doubles.
constexpr auto far = std::int64_t{1} << 60;

}  // namespace

BOOST_AUTO_TEST_CASE(slices_forward) {
  const auto x = ramp({3, 4});
  check(slice({1}, {3}, {0}, {1}), {{"x", x}}, {{"y", ramp({2, 4}, 4)}});
  check(slice({0, -3}, {far, -1}, {0, 1}, {2, 1}), {{"x", x}},
        {{"y", floats({2, 2}, {1, 2, 9, 10})}});
  check(slice({0}, {far}, {1}, {3}), {{"x", x}}, {{"y", floats({3, 2}, {0, 3, 4, 7, 8, 11})}});
  check(slice({0}, {far}, {1}, {far}), {{"x", x}}, {{"y", floats({3, 1}, {0, 4, 8})}});
  check(slice({-100}, {100}, {-1}, {1}), {{"x", x}}, {{"y", x}});
}

BOOST_AUTO_TEST_CASE(slices_backward) {
  const auto x = ramp({2, 4});
  check(slice({-1}, {-far}, {1}, {-1}), {{"x", x}},
        {{"y", floats({2, 4}, {3, 2, 1, 0, 7, 6, 5, 4})}});
  check(slice({far, 0}, {0, 2}, {1, 0}, {-2, 1}), {{"x", x}},
        {{"y", floats({2, 2}, {3, 1, 7, 5})}});
}

BOOST_AUTO_TEST_CASE(slices_by_attributes) {
  const auto x = ramp({3, 4});
  check(Model(9).node("Slice", {"x"}, {"y"},
                      {{"axes", Ints{1}}, {"starts", Ints{1}}, {"ends", Ints{3}}}),
        {{"x", x}}, {{"y", floats({3, 2}, {1, 2, 5, 6, 9, 10})}});
  check(Model(9).node("Slice", {"x"}, {"y"}, {{"starts", Ints{2, 0}}, {"ends", Ints{3, 1}}}),
        {{"x", x}}, {{"y", floats({1, 1}, {8})}});
}

// WebNN has no empty tensors, but what nothing is made of can be passed on.
BOOST_AUTO_TEST_CASE(parts_without_elements) {
  const auto x = ramp({2, 3});
  check(slice({1}, {1}, {1}, {1}).node("Concat", {"y", "x"}, {"z"}, {{"axis", 1}}), {{"x", x}},
        {{"z", x}});
  check(Model(18)
            .node("Split", {"x", "sizes"}, {"a", "none", "b"}, {{"axis", 1}})
            .node("Concat", {"none", "b", "a"}, {"y"}, {{"axis", 1}})
            .initializer("sizes", list({1, 0, 2})),
        {{"x", x}}, {{"y", floats({2, 3}, {1, 2, 0, 4, 5, 3})}});
  check(Model(18)
            .node("Split", {"x", "sizes"}, {"y", "none"}, {{"axis", 1}})
            .node("Shape", {"none"}, {"shape"})
            .initializer("sizes", list({3, 0})),
        {{"x", x}}, {{"y", x}, {"shape", list({2, 0})}});
}

BOOST_AUTO_TEST_CASE(slices_that_fail) {
  const Values x{{"x", ramp({3, 4})}};
  cannot(slice({0}, {1}, {0}, {0}), x, ErrorKind::bad_data, "a step of 0");
  cannot(slice({0}, {1}, {2}, {1}), x, ErrorKind::bad_data, "axis 2");
  cannot(slice({0, 1}, {1}, {0}, {1}), x, ErrorKind::bad_data, "different lengths");
  cannot(slice({2}, {1}, {0}, {1}), x, ErrorKind::not_supported,
         "output 'y': WebNN has no empty tensors: [0, 4]");
}

BOOST_AUTO_TEST_CASE(gathers) {
  const auto gather = [](std::int64_t axis) {
    return Model().node("Gather", {"x", "at"}, {"y"}, {{"axis", axis}});
  };
  const auto x = ramp({3, 2});
  check(gather(0), {{"x", x}, {"at", list({2, 0})}}, {{"y", floats({2, 2}, {4, 5, 0, 1})}});
  check(gather(1), {{"x", x}, {"at", longs({}, {1})}}, {{"y", floats({3}, {1, 3, 5})}});
  check(gather(-1), {{"x", x}, {"at", ints({1, 1}, {-1})}}, {{"y", floats({3, 1, 1}, {1, 3, 5})}});
  check(gather(0), {{"x", x}, {"at", longs({2, 1}, {1, 1})}},
        {{"y", floats({2, 1, 2}, {2, 3, 2, 3})}});
}

BOOST_AUTO_TEST_CASE(gather_of_an_embedding) {
  auto model = Model().node("Gather", {"table", "ids"}, {"y"}).initializer("table", ramp({50, 3}));
  check(model, {{"ids", longs({1, 2}, {40, 3})}},
        {{"y", floats({1, 2, 3}, {120, 121, 122, 9, 10, 11})}});
}

BOOST_AUTO_TEST_CASE(gather_of_an_index_that_is_out_of_range) {
  auto model = Model().node("Gather", {"x", "at"}, {"y"}).initializer("at", list({3}));
  cannot(model, {{"x", ramp({3})}}, ErrorKind::bad_data, "index 3 of an axis of 3");
}

BOOST_AUTO_TEST_CASE(non_zero_of_what_is_known) {
  auto model = Model().node("NonZero", {"c"}, {"y"}).initializer("c", ints({2, 2}, {0, 1, 2, 0}));
  check(model, {}, {{"y", longs({2, 2}, {0, 1, 1, 0})}});
  cannot(Model().node("NonZero", {"x"}, {"y"}), {{"x", ramp({2})}}, ErrorKind::not_supported,
         "input 0 ('x') must be known when it is imported");
}

BOOST_AUTO_TEST_SUITE_END()
