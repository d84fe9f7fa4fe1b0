// Operators that move elements.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(movement)

namespace {

/// The literal forms of inputs that handlers must know, by name.
Model with(Model model, const Values& known) {
  for (const auto& [name, value] : known) model.initializer(name, value);
  return model;
}

}  // namespace

BOOST_AUTO_TEST_CASE(concat_along_any_axis) {
  const auto model = [](std::int64_t axis) {
    return Model().node("Concat", {"a", "b"}, {"y"}, {{"axis", axis}});
  };
  const auto a = floats({2, 2}, {1, 2, 3, 4});
  check(model(0), {{"a", a}, {"b", floats({1, 2}, {5, 6})}},
        {{"y", floats({3, 2}, {1, 2, 3, 4, 5, 6})}});
  check(model(-1), {{"a", a}, {"b", floats({2, 1}, {5, 6})}},
        {{"y", floats({2, 3}, {1, 2, 5, 3, 4, 6})}});
  check(Model().node("Concat", {"a"}, {"y"}, {{"axis", 0}}), {{"a", a}}, {{"y", a}});
  cannot(model(0), {{"a", a}, {"b", ramp({1, 3})}}, ErrorKind::bad_data,
         "cannot concatenate [2, 2] and [1, 3]");
}

BOOST_AUTO_TEST_CASE(concat_with_nothing) {
  check(with(Model().node("Concat", {"a", "b"}, {"y"}, {{"axis", 0}}), {{"b", floats({0, 2}, {})}}),
        {{"a", ramp({2, 2})}}, {{"y", ramp({2, 2})}});
}

BOOST_AUTO_TEST_CASE(split_in_the_forms_of_the_opsets) {
  const auto x = ramp({2, 3});
  const Values thirds{{"a", floats({2, 1}, {0, 3})}, {"b", floats({2, 2}, {1, 2, 4, 5})}};
  check(Model(11).node("Split", {"x"}, {"a", "b"}, {{"axis", 1}, {"split", Ints{1, 2}}}),
        {{"x", x}}, thirds);
  check(
      with(Model(13).node("Split", {"x", "s"}, {"a", "b"}, {{"axis", -1}}), {{"s", list({1, 2})}}),
      {{"x", x}}, thirds);
  check(Model(13).node("Split", {"x"}, {"a", "b"}), {{"x", x}},
        {{"a", ramp({1, 3})}, {"b", ramp({1, 3}, 3)}});
  check(Model(18).node("Split", {"x"}, {"a", "b"}, {{"axis", 1}, {"num_outputs", 2}}), {{"x", x}},
        {{"a", floats({2, 2}, {0, 1, 3, 4})}, {"b", floats({2, 1}, {2, 5})}});
  cannot(Model(13).node("Split", {"x"}, {"y", "b"}, {{"axis", 1}}), {{"x", x}}, ErrorKind::bad_data,
         "3 cannot be split into 2 equal parts");
  cannot(Model(11).node("Split", {"x"}, {"y", "b"}, {{"split", Ints{1, 2}}}), {{"x", x}},
         ErrorKind::bad_data, "do not add up to 2");
}

BOOST_AUTO_TEST_CASE(transposes) {
  const auto x = ramp({2, 3, 2});
  check(Model().node("Transpose", {"x"}, {"y"}), {{"x", x}},
        {{"y", floats({2, 3, 2}, {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11})}});
  check(Model().node("Transpose", {"x"}, {"y"}, {{"perm", Ints{0, 2, 1}}}), {{"x", x}},
        {{"y", floats({2, 2, 3}, {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11})}});
  check(Model().node("Transpose", {"x"}, {"y"}, {{"perm", Ints{0, 1, 2}}}), {{"x", x}}, {{"y", x}});
  cannot(Model().node("Transpose", {"x"}, {"y"}, {{"perm", Ints{0, 1}}}), {{"x", x}},
         ErrorKind::bad_data, "'perm'");
  cannot(Model().node("Transpose", {"x"}, {"y"}, {{"perm", Ints{0, 1, 1}}}), {{"x", x}},
         ErrorKind::bad_data, "is given twice");
}

BOOST_AUTO_TEST_CASE(tiles) {
  const auto model = [](const Ints& times) {
    return with(Model().node("Tile", {"x", "t"}, {"y"}), {{"t", list(times)}});
  };
  const auto x = floats({2, 2}, {1, 2, 3, 4});
  check(model({2, 1}), {{"x", x}}, {{"y", floats({4, 2}, {1, 2, 3, 4, 1, 2, 3, 4})}});
  check(model({1, 2}), {{"x", x}}, {{"y", floats({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4})}});
  check(model({1, 1}), {{"x", x}}, {{"y", x}});
  cannot(model({2}), {{"x", x}}, ErrorKind::bad_data, "one repetition for each axis");
  cannot(model({-1, 1}), {{"x", x}}, ErrorKind::not_supported, "a repetition of -1");
}

BOOST_AUTO_TEST_CASE(pads_in_the_forms_of_the_opsets) {
  const auto x = floats({1, 3}, {1, 2, 3});
  const Value y = floats({2, 5}, {0, 1, 2, 3, 0, 0, 0, 0, 0, 0});
  check(Model(9).node("Pad", {"x"}, {"y"}, {{"pads", Ints{0, 1, 1, 1}}}), {{"x", x}}, {{"y", y}});
  check(with(Model(13).node("Pad", {"x", "p"}, {"y"}), {{"p", list({0, 1, 1, 1})}}), {{"x", x}},
        {{"y", y}});
  check(with(Model(13).node("Pad", {"x", "p", "v"}, {"y"}),
             {{"p", list({0, 0, 0, 1})}, {"v", floats({}, {7})}}),
        {{"x", x}}, {{"y", floats({1, 4}, {1, 2, 3, 7})}});
  check(with(Model(18).node("Pad", {"x", "p", "", "a"}, {"y"}, {{"mode", "edge"}}),
             {{"p", list({1, 1})}, {"a", list({-1})}}),
        {{"x", x}}, {{"y", floats({1, 5}, {1, 1, 2, 3, 3})}});
  check(with(Model(13).node("Pad", {"x", "p"}, {"y"}, {{"mode", "reflect"}}),
             {{"p", list({0, 2, 0, 1})}}),
        {{"x", x}}, {{"y", floats({1, 6}, {3, 2, 1, 2, 3, 2})}});
  check(with(Model(19).node("Pad", {"x", "p"}, {"y"}, {{"mode", "wrap"}}),
             {{"p", list({0, 1, 0, 4})}}),
        {{"x", x}}, {{"y", floats({1, 8}, {3, 1, 2, 3, 1, 2, 3, 1})}});
  check(with(Model(13).node("Pad", {"x", "p"}, {"y"}), {{"p", list({0, -1, 0, 1})}}), {{"x", x}},
        {{"y", floats({1, 3}, {2, 3, 0})}});
  check(with(Model(13).node("Pad", {"x", "p", "v"}, {"y"}), {{"p", list({0, 1, 0, 0})}}),
        {{"x", x}, {"v", floats({}, {7})}}, {{"y", floats({1, 4}, {7, 1, 2, 3})}});
  check(Model(1).node("Pad", {"x"}, {"y"}, {{"paddings", Ints{0, 1, 0, 0}}}), {{"x", x}},
        {{"y", floats({1, 4}, {0, 1, 2, 3})}});
  cannot(with(Model(13).node("Pad", {"x", "p"}, {"y"}), {{"p", list({0, -3, 0, 0})}}), {{"x", x}},
         ErrorKind::not_supported, "an empty result");
  cannot(with(Model(19).node("Pad", {"x", "p"}, {"y"}, {{"mode", "spiral"}}),
              {{"p", list({0, 1, 0, 1})}}),
         {{"x", x}}, ErrorKind::bad_data, "'spiral'");
}

BOOST_AUTO_TEST_CASE(depth_to_space_and_back) {
  const auto x = ramp({1, 4, 1, 2});
  const auto y = floats({1, 1, 2, 4}, {0, 2, 1, 3, 4, 6, 5, 7});
  check(Model().node("DepthToSpace", {"x"}, {"y"}, {{"blocksize", 2}}), {{"x", x}}, {{"y", y}});
  check(Model().node("SpaceToDepth", {"x"}, {"y"}, {{"blocksize", 2}}), {{"x", y}}, {{"y", x}});
  // With two output channels the modes differ: channels before blocks, or after.
  check(Model().node("DepthToSpace", {"x"}, {"y"}, {{"blocksize", 2}, {"mode", "CRD"}}),
        {{"x", ramp({1, 8, 1, 1})}}, {{"y", floats({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7})}});
  check(Model().node("DepthToSpace", {"x"}, {"y"}, {{"blocksize", 2}}), {{"x", ramp({1, 8, 1, 1})}},
        {{"y", floats({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7})}});
  // The same back, since opset 28.
  check(Model(28).node("SpaceToDepth", {"x"}, {"y"}, {{"blocksize", 2}, {"mode", "CRD"}}),
        {{"x", ramp({1, 2, 2, 2})}}, {{"y", ramp({1, 8, 1, 1})}});
  cannot(Model().node("DepthToSpace", {"x"}, {"y"}, {{"blocksize", 0}}), {{"x", x}},
         ErrorKind::bad_data, "a blocksize of 0");
  for (const std::string op : {"DepthToSpace", "SpaceToDepth"})
    cannot(Model(28).node(op, {"x"}, {"y"}, {{"blocksize", 1}, {"mode", "RCD"}}), {{"x", x}},
           ErrorKind::bad_data, "'RCD'");
}

BOOST_AUTO_TEST_CASE(centers) {
  const auto center = [](const Ints& sizes, const Attributes& attributes = {}) {
    return with(Model(18).node("CenterCropPad", {"x", "s"}, {"y"}, attributes),
                {{"s", list(sizes)}});
  };
  const Values x{{"x", ramp({2, 5}, 1)}};
  // An odd one is cut off, or put, at the end.
  check(center({2, 2}), x, {{"y", floats({2, 2}, {2, 3, 7, 8})}});
  check(center({3, 3}), x, {{"y", floats({3, 3}, {2, 3, 4, 7, 8, 9, 0, 0, 0})}});
  check(center({8}, {{"axes", Ints{-1}}}), x,
        {{"y", floats({2, 8}, {0, 1, 2, 3, 4, 5, 0, 0, 0, 6, 7, 8, 9, 10, 0, 0})}});
  check(center({2, 5}), x, {{"y", ramp({2, 5}, 1)}});
  cannot(center({2}), x, ErrorKind::bad_data, "1 sizes for 2 axes");
  cannot(center({0, 5}), x, ErrorKind::not_supported, "an empty result");
  cannot(Model(18).node("CenterCropPad", {"x", "s"}, {"y"}), {{"x", ramp({2})}, {"s", list({3})}},
         ErrorKind::not_supported, "input 1 ('s') must be known when it is imported");
}

BOOST_AUTO_TEST_SUITE_END()
