// Operators about shapes, and arithmetic with shapes.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(shapes)

namespace {

Model reshape(const Ints& to, const Attributes& attributes = {}, std::int64_t opset = 13) {
  return Model(opset).node("Reshape", {"x", "to"}, {"y"}, attributes).initializer("to", list(to));
}

}  // namespace

BOOST_AUTO_TEST_CASE(reshapes) {
  const auto x = ramp({2, 3, 4});
  const auto becomes = [&](const Ints& to, const Shape& shape) {
    check(reshape(to), {{"x", x}}, {{"y", floats(shape, x.data)}});
  };
  becomes({6, 4}, {6, 4});
  becomes({-1}, {24});
  becomes({0, -1}, {2, 12});
  becomes({0, 0, 2, 2}, {2, 3, 2, 2});
  becomes({2, 3, 4}, {2, 3, 4});
  check(reshape({}), {{"x", floats({1, 1}, {5})}}, {{"y", floats({}, {5})}});
}

BOOST_AUTO_TEST_CASE(reshapes_that_fail) {
  const Values x{{"x", ramp({2, 3})}};
  cannot(reshape({4, -1}), x, ErrorKind::bad_data, "does not fill");
  cannot(reshape({7}), x, ErrorKind::not_supported, "operator 'Reshape'");
  cannot(reshape({-1, -1}), x, ErrorKind::not_supported, "a dimension of -1");
  cannot(reshape({1, 1, 0}), x, ErrorKind::bad_data, "has none to copy");
  cannot(reshape({0, -1}, {{"allowzero", 1}}, 14), x, ErrorKind::bad_data, "does not fill");
  cannot(Model().node("Reshape", {"x", "to"}, {"y"}), {{"x", ramp({2})}, {"to", list({2})}},
         ErrorKind::not_supported, "input 1 ('to') must be known when it is imported");
}

BOOST_AUTO_TEST_CASE(flattens) {
  const auto x = ramp({2, 3, 4});
  const auto becomes = [&](std::int64_t axis, const Shape& shape) {
    check(Model().node("Flatten", {"x"}, {"y"}, {{"axis", axis}}), {{"x", x}},
          {{"y", floats(shape, x.data)}});
  };
  becomes(0, {1, 24});
  becomes(1, {2, 12});
  becomes(-1, {6, 4});
  becomes(3, {24, 1});
}

BOOST_AUTO_TEST_CASE(squeezes_and_unsqueezes_by_attribute_and_by_input) {
  const auto x = ramp({1, 3, 1});
  const auto in = [](const char* op, std::int64_t opset, const Ints& axes) {
    if (opset < 13) return Model(opset).node(op, {"x"}, {"y"}, {{"axes", axes}});
    return Model(opset).node(op, {"x", "axes"}, {"y"}).initializer("axes", list(axes));
  };
  for (const std::int64_t opset : {11, 13}) {
    check(in("Squeeze", opset, {0}), {{"x", x}}, {{"y", floats({3, 1}, x.data)}});
    check(in("Squeeze", opset, {-1, 0}), {{"x", x}}, {{"y", floats({3}, x.data)}});
    check(in("Unsqueeze", opset, {0, -1}), {{"x", x}}, {{"y", floats({1, 1, 3, 1, 1}, x.data)}});
    cannot(in("Squeeze", opset, {1}), {{"x", x}}, ErrorKind::bad_data, "axis 1 of shape [1, 3, 1]");
    cannot(in("Unsqueeze", opset, {1, 1}), {{"x", x}}, ErrorKind::bad_data, "is given twice");
  }
  check(Model().node("Squeeze", {"x"}, {"y"}), {{"x", x}}, {{"y", floats({3}, x.data)}});
}

BOOST_AUTO_TEST_CASE(shape_and_size_are_constants) {
  const auto x = ramp({2, 3, 4});
  check(Model().node("Shape", {"x"}, {"y"}), {{"x", x}}, {{"y", list({2, 3, 4})}});
  check(Model(15).node("Shape", {"x"}, {"y"}, {{"start", 1}}), {{"x", x}}, {{"y", list({3, 4})}});
  check(Model(15).node("Shape", {"x"}, {"y"}, {{"start", -3}, {"end", -1}}), {{"x", x}},
        {{"y", list({2, 3})}});
  check(Model().node("Size", {"x"}, {"y"}), {{"x", x}}, {{"y", longs({}, {24})}});
}

BOOST_AUTO_TEST_CASE(expands_both_ways) {
  const auto to = [](const Ints& shape) {
    return Model().node("Expand", {"x", "to"}, {"y"}).initializer("to", list(shape));
  };
  const auto x = floats({2, 1}, {5, 6});
  check(to({2, 3}), {{"x", x}}, {{"y", floats({2, 3}, {5, 5, 5, 6, 6, 6})}});
  check(to({1, 1, 2}), {{"x", x}}, {{"y", floats({1, 2, 2}, {5, 5, 6, 6})}});
  check(to({1}), {{"x", x}}, {{"y", x}});
  cannot(to({3, 1}), {{"x", x}}, ErrorKind::bad_data, "cannot broadcast");
}

BOOST_AUTO_TEST_CASE(constants_of_a_shape_and_ranges) {
  check(Model().node("ConstantOfShape", {"to"}, {"y"}).initializer("to", list({2, 2})), {},
        {{"y", floats({2, 2}, {0, 0, 0, 0})}});
  check(Model()
            .node("ConstantOfShape", {"to"}, {"y"}, {{"value", longs({1}, {7})}})
            .initializer("to", list({3})),
        {}, {{"y", list({7, 7, 7})}});
  const auto range = [](const Value& start, const Value& limit, const Value& delta) {
    return Model()
        .node("Range", {"a", "b", "c"}, {"y"})
        .initializer("a", start)
        .initializer("b", limit)
        .initializer("c", delta);
  };
  check(range(longs({}, {2}), longs({}, {9}), longs({}, {3})), {}, {{"y", list({2, 5, 8})}});
  check(range(floats({}, {1}), floats({}, {0}), floats({}, {-0.5})), {},
        {{"y", floats({2}, {1, 0.5})}});
  cannot(range(longs({}, {0}), longs({}, {1e15}), longs({}, {1})), {}, ErrorKind::not_supported,
         "a range of that many numbers");
  cannot(range(longs({}, {0}), longs({}, {1}), longs({}, {0})), {}, ErrorKind::bad_data,
         "delta is 0");
}

BOOST_AUTO_TEST_CASE(large_constants_of_a_shape_are_not_calculated) {
  auto model = Model()
                   .node("ConstantOfShape", {"to"}, {"c"}, {{"value", floats({1}, {2})}})
                   .node("ReduceSum", {"c"}, {"y"}, {{"keepdims", 0}})
                   .initializer("to", list({1024, 128}));
  check(model, {}, {{"y", floats({}, {2.0 * 1024 * 128})}});
}

BOOST_AUTO_TEST_CASE(identity_and_dropout) {
  const auto x = ramp({3});
  check(Model().node("Identity", {"x"}, {"y"}), {{"x", x}}, {{"y", x}});
  check(Model(10).node("Dropout", {"x"}, {"y"}, {{"ratio", 0.5}}), {{"x", x}}, {{"y", x}});
  check(Model(13).node("Dropout", {"x", "r"}, {"y"}).initializer("r", floats({}, {0.5})),
        {{"x", x}}, {{"y", x}});
  check(Model(13).node("Dropout", {"x"}, {"y", "mask"}), {{"x", x}},
        {{"y", x}, {"mask", bools({3}, {1, 1, 1})}});
  cannot(Model(13).node("Dropout", {"x", "", "t"}, {"y"}).initializer("t", bools({}, {1})),
         {{"x", x}}, ErrorKind::not_supported, "training");
}

BOOST_AUTO_TEST_CASE(one_value_under_two_names) {
  check(Model().node("Relu", {"x"}, {"y"}).node("Identity", {"y"}, {"z"}), {{"x", ramp({2}, -1)}},
        {{"y", floats({2}, {0, 0})}, {"z", floats({2}, {0, 0})}});
}

// PyTorch's form of the heads of an attention: batch and length are taken from the input.
BOOST_AUTO_TEST_CASE(shape_arithmetic_leaves_no_trace) {
  Model model;
  model.node("Shape", {"x"}, {"s"})
      .node("Gather", {"s", "zero"}, {"batch"}, {{"axis", 0}})
      .node("Gather", {"s", "one"}, {"length"}, {{"axis", 0}})
      .node("Unsqueeze", {"batch", "axis"}, {"batch1"})
      .node("Unsqueeze", {"length", "axis"}, {"length1"})
      .node("Concat", {"batch1", "length1", "heads"}, {"to"}, {{"axis", 0}})
      .node("Reshape", {"x", "to"}, {"r"})
      .node("Transpose", {"r"}, {"y"}, {{"perm", Ints{0, 2, 1, 3}}})
      .initializer("zero", longs({}, {0}))
      .initializer("one", longs({}, {1}))
      .initializer("axis", list({0}))
      .initializer("heads", list({2, 2}));
  const auto x = ramp({1, 3, 4});
  check(model, {{"x", x}}, {{"y", floats({1, 2, 3, 2}, {0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11})}});
  const auto graph = build(load(model.input("x", x).output("y").bytes()));
  BOOST_TEST(graph.plan().size() <= 2U);  // the reshape may be free, the transposition may not
}

// Paddle's form, at opset 9: through int32 and slices.
BOOST_AUTO_TEST_CASE(shape_arithmetic_of_opset_9) {
  Model model(9);
  model.node("Shape", {"x"}, {"s"})
      .node("Cast", {"s"}, {"s32"}, {{"to", std::int64_t{proto::TensorProto::INT32}}})
      .node("Slice", {"s32"}, {"d"}, {{"axes", Ints{0}}, {"starts", Ints{1}}, {"ends", Ints{2}}})
      .node("Mul", {"d", "two"}, {"d2"})
      .node("Cast", {"d2"}, {"d64"}, {{"to", std::int64_t{proto::TensorProto::INT64}}})
      .node("Concat", {"minus", "d64"}, {"to"}, {{"axis", 0}})
      .node("Reshape", {"x", "to"}, {"y"})
      .initializer("two", ints({1}, {2}))
      .initializer("minus", list({-1}));
  check(model, {{"x", ramp({2, 3, 4})}}, {{"y", floats({4, 6}, ramp({24}).data)}});
}

BOOST_AUTO_TEST_CASE(conditions_on_shapes) {
  // torch.where(shape == -1, ones, shape), as it is written around Expand.
  Model model;
  model.node("Shape", {"wanted"}, {"rank"})
      .node("ConstantOfShape", {"rank"}, {"ones"}, {{"value", longs({1}, {1})}})
      .node("Mul", {"ones", "minus"}, {"minuses"})
      .node("Equal", {"wanted", "minuses"}, {"open"})
      .node("Where", {"open", "ones", "wanted"}, {"to"})
      .node("Expand", {"x", "to"}, {"y"})
      .initializer("wanted", list({2, -1}))
      .initializer("minus", longs({}, {-1}));
  check(model, {{"x", floats({1, 3}, {1, 2, 3})}}, {{"y", floats({2, 3}, {1, 2, 3, 1, 2, 3})}});
}

BOOST_AUTO_TEST_SUITE_END()
