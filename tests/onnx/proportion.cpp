// Files of some hundred bytes that asked for unlimited time or memory. They are refused, or built
// as fast as others. A case that fails takes minutes or gigabytes, or does not end.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(proportion)

namespace {

constexpr std::uint32_t huge = 4294967295;

/// True if the graph was built. Any Error except one about the model fails.
bool is_built(const Model& model) {
  try {
    build(load(model.bytes()));
    return true;
  } catch (const polychron::Error& error) {
    const auto kind = error.kind();
    BOOST_TEST((kind == ErrorKind::bad_data || kind == ErrorKind::not_supported ||
                kind == ErrorKind::type_error),
               error.what());
    BOOST_TEST_MESSAGE(error.what());
    return false;
  }
}

/// No elements, and so no bytes.
Value nothing(Shape shape) { return floats(std::move(shape), {}); }

Value ones(int type, Shape shape) {
  auto value = ramp(std::move(shape), 1, 0);
  value.type = type;
  return value;
}

Model body(const std::vector<std::string>& inputs) {
  Model model;
  for (const auto& name : inputs) model.graph().add_input()->set_name(name);
  return model;
}

/// "y" is the result of "x" after a loop of `turns` turns, whose body takes "i", "c" and "v".
Model looped(std::int64_t turns, Model inside, const std::vector<std::string>& results,
             std::int64_t opset = 13) {
  inside.output("c");
  for (const auto& name : results) inside.output(name);
  Model model(opset);
  model.node("Loop", {"n", "", "x"}, {"y"}).with_body(inside);
  return model.initializer("n", list({turns})).output("y");
}

}  // namespace

BOOST_AUTO_TEST_CASE(products_of_dimensions_that_wrap_around) {
  const Shape zero_in_64_bits{2147483648, 2147483648, 4};
  const auto input = [&](Model model) { return model.input("x", nothing(zero_in_64_bits)); };
  BOOST_TEST(!is_built(input(Model().node("Slice", {"x", "s", "e"}, {"y"}))
                           .initializer("s", list({7, 0, 0}))
                           .initializer("e", list({8, 1, 1}))
                           .output("y")));
  BOOST_TEST(!is_built(input(Model().node("Split", {"x", "p"}, {"a", "y"}, {{"axis", 2}}))
                           .node("Size", {"y"}, {"z"})
                           .initializer("p", list({1, 3}))
                           .output("z")));
  BOOST_TEST(!is_built(input(Model().node("SplitToSequence", {"x", "p"}, {"a"}, {{"axis", 0}}))
                           .node("SequenceAt", {"a", "j"}, {"y"})
                           .initializer("p", list({3, 1}))
                           .initializer("j", longs({}, {0}))
                           .output("y")));
  BOOST_TEST(!is_built(Model()
                           .node("Reshape", {"c", "t"}, {"r"})
                           .node("Slice", {"r", "s", "e"}, {"y"})
                           .initializer("c", nothing({0}))
                           .initializer("t", list({2147483648, 2147483648, 4}))
                           .initializer("s", list({7, 0, 0}))
                           .initializer("e", list({8, 1, 1}))
                           .output("y")));
}

BOOST_AUTO_TEST_CASE(dimensions_beside_a_zero) {
  const auto refused = [](Model model) { BOOST_TEST(!is_built(model.output("y"))); };
  refused(Model()
              .node("Gather", {"c", "i"}, {"g"}, {{"axis", 2}})
              .node("Size", {"g"}, {"y"})
              .initializer("c", nothing({huge, huge, 1, 0}))
              .initializer("i", list({0})));
  refused(Model()
              .node("Concat", {"c", "c"}, {"g"}, {{"axis", 2}})
              .node("Size", {"g"}, {"y"})
              .initializer("c", nothing({huge, huge, 0})));
  refused(Model()
              .node("NonMaxSuppression", {"b", "s"}, {"y"})
              .initializer("b", nothing({huge, 0, 4}))
              .initializer("s", nothing({huge, huge, 0})));
  refused(Model().node("Unique", {"c"}, {"y"}, {{"axis", 0}}).initializer("c", nothing({huge, 0})));
  refused(Model().node("EyeLike", {"c"}, {"y"}).initializer("c", nothing({huge, 0})));
  auto inside = body({"a"});
  inside.output("a");
  refused(Model(8)
              .node("Scan", {"", "c"}, {"y"}, {{"num_scan_inputs", 1}})
              .with_body(inside)
              .initializer("c", nothing({huge, 0})));
  // All of these end at one check, as they are read. With as many as there may be each operator
  // comes to an end, whatever it says: one that would not is what fails.
  const auto ends = [](Model model) { is_built(model.output("y")); };
  const auto most = nothing({1 << 24, 0});
  ends(Model()
           .node("Gather", {"c", "i"}, {"g"}, {{"axis", 1}})
           .node("Size", {"g"}, {"y"})
           .initializer("c", nothing({1 << 24, 1, 0}))
           .initializer("i", list({0})));
  ends(Model().node("Unique", {"c"}, {"y"}, {{"axis", 0}}).initializer("c", most));
  ends(Model().node("EyeLike", {"c"}, {"y"}).initializer("c", most));
  ends(Model()
           .node("NonMaxSuppression", {"b", "s"}, {"y"})
           .initializer("b", nothing({4096, 0, 4}))
           .initializer("s", nothing({4096, 4096, 0})));
  ends(Model(8)
           .node("Scan", {"", "c"}, {"y"}, {{"num_scan_inputs", 1}})
           .with_body(inside)
           .initializer("c", most));
  // The ordinary ones are as before.
  BOOST_TEST(is_built(Model()
                          .node("Concat", {"c", "c"}, {"g"}, {{"axis", 1}})
                          .node("Shape", {"g"}, {"y"})
                          .initializer("c", nothing({1000, 12, 0, 64}))
                          .output("y", proto::TensorProto::INT64)));
}

BOOST_AUTO_TEST_CASE(sequences_in_sequences) {
  auto inside = body({"i", "c", "v"});
  inside.node("SequenceConstruct", {"v"}, {"a"}).node("SequenceConstruct", {"a"}, {"b"});
  BOOST_TEST(!is_built(looped(100'000, inside, {"b"}).input("x", ramp({1}))));
}

BOOST_AUTO_TEST_CASE(lengths_that_only_a_file_says) {
  const auto resized = [](const Value& x, const Ints& sizes, const std::string& coordinates) {
    return is_built(Model(13)
                        .node("Resize", {"x", "", "", "t"}, {"y"},
                              {{"coordinate_transformation_mode", coordinates}})
                        .initializer("t", list(sizes))
                        .input("x", x)
                        .output("y", x.type));
  };
  BOOST_TEST(!resized(ramp({1, 1, 1}), {1, 1, 600'000'000}, "half_pixel"));
  BOOST_TEST(
      !resized(ones(proto::TensorProto::UINT8, {1, 1, 1}), {1, 1, 2147483647}, "half_pixel"));
  BOOST_TEST(resized(ramp({1, 1, 3}), {1, 1, 50'000}, "half_pixel"));

  BOOST_TEST(!is_built(Model(14)
                           .node("RNN", {"x", "w", "w"}, {"", "y"}, {{"hidden_size", 1}})
                           .input("x", proto::TensorProto::FLOAT, {536870911, 1, 1})
                           .initializer("w", ramp({1, 1, 1}))
                           .output("y")));
}

BOOST_AUTO_TEST_CASE(bodies_that_calculate) {
  const auto number = [](int type) { return ones(type, {}); };
  const auto costs = [](std::int64_t turns, Model inside, const Value& x, const std::string& made,
                        std::int64_t opset = 13) {
    return !is_built(looped(turns, std::move(inside), {made}, opset).initializer("x", x));
  };
  const auto i8 = ones(proto::TensorProto::INT8, {65'536});
  BOOST_TEST(costs(
      99'000,
      body({"i", "c", "v"}).initializer("z", i8).node("ReduceSum", {"z"}, {"q"}, {{"keepdims", 0}}),
      number(proto::TensorProto::INT8), "q"));
  BOOST_TEST(costs(99'000,
                   body({"i", "c", "v"})
                       .initializer("b", ones(proto::TensorProto::FLOAT, {1, 4096, 4}))
                       .initializer("s", ones(proto::TensorProto::FLOAT, {1, 16, 4096}))
                       .node("NonMaxSuppression", {"b", "s"}, {"q"}),
                   number(proto::TensorProto::INT64), "q"));
  BOOST_TEST(costs(99'000,
                   body({"i", "c", "v"})
                       .initializer("z", nothing({1 << 24, 0}))
                       .node("Concat", {"z", "z"}, {"q"}, {{"axis", 1}}),
                   number(proto::TensorProto::INT64), "q"));
  // NonZero's result is eight times as large, Unique's as large, and compared.
  BOOST_TEST(costs(99'000,
                   body({"i", "c", "v"})
                       .initializer("z", ones(proto::TensorProto::INT8, {65'536, 1, 1, 1, 1, 1}))
                       .node("NonZero", {"z"}, {"q"}),
                   number(proto::TensorProto::INT64), "q"));
  BOOST_TEST(costs(
      99'000, body({"i", "c", "v"}).initializer("z", ramp({65'536})).node("Unique", {"z"}, {"q"}),
      number(proto::TensorProto::FLOAT), "q"));
}

BOOST_AUTO_TEST_CASE(bodies_that_add_to_the_graph) {
  const auto costs = [](std::int64_t turns, Model inside, const Value& x,
                        const std::vector<std::string>& made, std::int64_t opset = 13) {
    return !is_built(looped(turns, std::move(inside), made, opset).input("x", x));
  };
  // Indices are a constant of each gather's own, and so is what int16 is carried by.
  BOOST_TEST(costs(20'000,
                   body({"i", "c", "v"})
                       .initializer("z", ones(proto::TensorProto::INT64, {65'536}))
                       .node("Gather", {"v", "z"}, {"q"}),
                   ramp({2}), {"q"}));
  BOOST_TEST(costs(199'000, body({"i", "c", "v"}), ramp({1}), [] {
    std::vector<std::string> made{"v"};
    made.resize(101, "i");
    return made;
  }()));
  BOOST_TEST(costs(1000,
                   body({"i", "c", "v"})
                       .initializer("z", ones(proto::TensorProto::INT64, {8192}))
                       .node("SplitToSequence", {"v", "z"}, {"p"})
                       .node("ConcatFromSequence", {"p"}, {"q"}, {{"axis", 0}}),
                   ramp({8192}), {"q"}));
  BOOST_TEST(costs(2000,
                   body({"i", "c", "v"})
                       .initializer("g", ones(proto::TensorProto::FLOAT, {1, 1, 1, 2}))
                       .node("GridSample", {"v", "g"}, {"q"},
                             {{"mode", "bicubic"}, {"padding_mode", "reflection"}}),
                   ramp({1, 1, 1, 1}), {"q"}, 16));
  BOOST_TEST(costs(5000,
                   body({"i", "c", "v"})
                       .initializer("s", list({65'536}))
                       .initializer("b", list({1}))
                       .node("Col2Im", {"v", "s", "b"}, {"q"}),
                   ramp({1, 1, 65'536}), {"q"}, 18));
  BOOST_TEST(costs(5000,
                   body({"i", "c", "v"})
                       .initializer("s", list({1, 1, 256, 256}))
                       .node("AffineGrid", {"v", "s"}, {"g"})
                       .node("ReduceMax", {"g"}, {"m"}, {{"keepdims", 0}})
                       .node("Add", {"v", "m"}, {"q"}),
                   ramp({1, 2, 3}), {"q"}, 20));
  BOOST_TEST(costs(30'000,
                   body({"i", "c", "v"})
                       .node("LinearAttention", {"v", "v", "v"}, {"q"},
                             {{"update_rule", "linear"}, {"q_num_heads", 1}, {"kv_num_heads", 1}}),
                   ramp({1, 1, 1}), {"q"}, 27));

  auto inside = body(std::vector<std::string>(60, "a"));
  for (int i = 0; i < 60; ++i) inside.output("a");
  Model scan;
  scan.node("Scan", std::vector<std::string>(60, "x"), {"y"}, {{"num_scan_inputs", 60}})
      .with_body(inside)
      .input("x", ramp({190'000}))
      .output("y");
  BOOST_TEST(!is_built(scan));

  // A node of a thousand operands is more than a node; a state is carried even if nothing is done.
  auto wide = body({"i", "c", "v"});
  wide.node("Concat", std::vector<std::string>(1000, "v"), {"all"}, {{"axis", 0}})
      .node("ReduceMax", {"all"}, {"q"});
  BOOST_TEST(costs(60'000, wide, ramp({1}), {"q"}));
}

// As large as an importer lets a graph be: passes look at each of its operators once, not at all of
// them for each.
BOOST_AUTO_TEST_CASE(graphs_of_many_operators) {
  const auto long_one = [](Model inside) {
    return is_built(looped(60'000, std::move(inside), {"q"}).input("x", ramp({1})));
  };
  BOOST_TEST(long_one(body({"i", "c", "v"}).node("Neg", {"v"}, {"q"})));
  BOOST_TEST(
      long_one(body({"i", "c", "v"}).node("Sigmoid", {"v"}, {"s"}).node("Mul", {"v", "s"}, {"q"})));
  BOOST_TEST(long_one(body({"i", "c", "v"})
                          .initializer("one", floats({}, {1}))
                          .node("Mul", {"v", "one"}, {"m"})
                          .node("Exp", {"m"}, {"q"})));
}

// Tables that bodies look up, and values beside them, are no arithmetic at import.
BOOST_AUTO_TEST_CASE(bodies_that_look_up) {
  auto inside = body({"i", "c", "v"});
  inside.initializer("table", ramp({4096, 16}))
      .initializer("bias", ramp({65'536}))
      .initializer("shape", list({16, 4096}))
      .node("Gather", {"table", "i"}, {"row"})
      .node("Reshape", {"table", "shape"}, {"turned"})
      .node("ReduceSum", {"row"}, {"sum"}, {{"keepdims", 0}})
      .node("Add", {"v", "sum"}, {"w"})
      .node("Add", {"w", "bias"}, {"q"});
  BOOST_TEST(is_built(looped(4096, inside, {"q"}).input("x", ramp({65'536}))));
}

// Many steps of a network of one number: each is work of its own.
BOOST_AUTO_TEST_CASE(networks_that_are_known) {
  auto inside = body({"i", "c", "v"});
  inside.node("LSTM", {"a", "w", "r", "", "", "v"}, {"", "q"}, {{"hidden_size", 1}});
  auto model = looped(300, inside, {"q"}, 14);
  model.node("ConstantOfShape", {"k"}, {"a"}, {{"value", floats({1}, {0.5})}})
      .initializer("k", list({4'000'000, 1, 1}))
      .initializer("w", ramp({1, 4, 1}, 1, 0))
      .initializer("r", ramp({1, 4, 1}, 1, 0))
      .initializer("x", ramp({1, 1, 1}));
  // The loop is after what it reads.
  model.graph().mutable_node()->SwapElements(0, 1);
  BOOST_TEST(is_built(model));
}

BOOST_AUTO_TEST_SUITE_END()
