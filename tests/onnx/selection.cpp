// ArgMax and its kin, TopK, OneHot; positions as tensors; the order of elements; losses.
#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(selection)

namespace {

Model one(const char* op, const Attributes& attributes = {}, std::int64_t opset = 13) {
  return Model(opset).node(op, {"x"}, {"y"}, attributes);
}

}  // namespace

BOOST_AUTO_TEST_CASE(largest_and_smallest) {
  const auto x = floats({2, 3}, {4, 7, 7, -1, -1, -3});
  check(one("ArgMax", {{"axis", 1}}), {{"x", x}}, {{"y", longs({2, 1}, {1, 0})}});
  check(one("ArgMax", {{"axis", 1}, {"select_last_index", 1}, {"keepdims", 0}}), {{"x", x}},
        {{"y", longs({2}, {2, 1})}});
  check(one("ArgMin", {{"axis", 0}}), {{"x", x}}, {{"y", longs({1, 3}, {1, 1, 1})}});
  check(one("Hardmax"), {{"x", x}}, {{"y", floats({2, 3}, {0, 1, 0, 1, 0, 0})}});
  cannot(one("ArgMax", {{"axis", 2}}), {{"x", x}}, ErrorKind::bad_data, "axis 2");
}

BOOST_AUTO_TEST_CASE(the_best_of_a_row) {
  const auto top = [](double k, const Attributes& attributes) {
    return Model(11)
        .node("TopK", {"x", "k"}, {"y", "at"}, attributes)
        .initializer("k", longs({1}, {k}));
  };
  const auto x = floats({2, 4}, {1, 9, -2, 9, -5, -4, -6, -4.5});
  check(
      top(3, {}), {{"x", x}},
      {{"y", floats({2, 3}, {9, 9, 1, -4, -4.5, -5})}, {"at", longs({2, 3}, {1, 3, 0, 1, 3, 0})}});
  check(top(1, {{"largest", 0}, {"axis", 0}}), {{"x", x}},
        {{"y", floats({1, 4}, {-5, -4, -6, -4.5})}, {"at", longs({1, 4}, {1, 1, 1, 1})}});
  cannot(top(5, {}), {{"x", x}}, ErrorKind::not_supported, "5 of 4 elements");
}

BOOST_AUTO_TEST_CASE(the_smallest_of_a_row) {
  const auto least = [](double k, Attributes attributes) {
    attributes.push_back({"largest", 0});
    return Model(11)
        .node("TopK", {"x", "k"}, {"y", "at"}, attributes)
        .initializer("k", longs({1}, {k}));
  };
  const auto x = floats({2, 4}, {1, 9, -2, 9, -5, -4, -6, -4.5});
  check(
      least(3, {}), {{"x", x}},
      {{"y", floats({2, 3}, {-2, 1, 9, -6, -5, -4.5})}, {"at", longs({2, 3}, {2, 0, 1, 2, 0, 3})}});
  check(least(2, {{"axis", 0}}), {{"x", x}},
        {{"y", floats({2, 4}, {-5, -4, -6, -4.5, 1, 9, -2, 9})},
         {"at", longs({2, 4}, {1, 1, 1, 1, 0, 0, 0, 0})}});
  constexpr double infinity = std::numeric_limits<double>::infinity();
  check(least(3, {}), {{"x", floats({1, 4}, {infinity, 0, -infinity, 0})}},
        {{"y", floats({1, 3}, {-infinity, 0, 0})}, {"at", longs({1, 3}, {2, 1, 3})}});
  check(least(2, {}), {{"x", floats({1, 3}, {4, 4, 4})}},
        {{"y", floats({1, 2}, {4, 4})}, {"at", longs({1, 2}, {0, 1})}});
  auto row = noise({1, 8400});
  row.data[4321] = -7;
  row.data[17] = -6;
  check(least(2, {}), {{"x", row}},
        {{"y", floats({1, 2}, {-7, -6})}, {"at", longs({1, 2}, {4321, 17})}});
}

BOOST_AUTO_TEST_CASE(the_best_of_long_rows) {
  auto x = noise({1, 8400});
  x.data[4321] = 7;
  x.data[17] = 6;
  const auto model = [](double k) {
    return Model(11).node("TopK", {"x", "k"}, {"y", "at"}).initializer("k", longs({1}, {k}));
  };
  check(model(2), {{"x", x}}, {{"y", floats({1, 2}, {7, 6})}, {"at", longs({1, 2}, {4321, 17})}});
  // As in YOLOv10 and RT-DETR. Fewer than k are above -infinity: each place comes once.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < x.data.size(); ++i)
    if (i != 17 && i != 4321) x.data[i] = -infinity;
  auto best = floats({1, 300}, Reals(300, -infinity));
  auto places = longs({1, 300}, Reals(300));
  best.data[0] = 7;
  best.data[1] = 6;
  places.data[0] = 4321;
  for (std::size_t rank = 1, at = 17; rank < 300; ++rank, at = rank - 2 + (rank > 18 ? 1 : 0))
    places.data[rank] = static_cast<double>(at);
  check(model(300), {{"x", x}}, {{"y", best}, {"at", places}});
}

BOOST_AUTO_TEST_CASE(the_best_in_a_strict_context) {
  auto model = Model(11)
                   .node("TopK", {"x", "k"}, {"y", "at"}, {{"axis", 1}})
                   .initializer("k", longs({1}, {2}));
  model.input("x", proto::TensorProto::FLOAT, {1, "length"}).output("y");
  const auto loaded = load(model.bytes());
  context();  // the world is there
  auto strict = World::instance()->runtime.create_context({.strict = true}).get();
  const auto import = [&](std::uint32_t length) {
    polychron::GraphBuilder builder(strict);
    return polychron::onnx::import_model(loaded, builder, {{{"x", {1, length}}}});
  };
  BOOST_TEST(import(100).size() == 1U);
  BOOST_CHECK_EXCEPTION(import(8400), polychron::Error, [](const auto& error) {
    return std::string(error.what()).find("strict context") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(one_hot) {
  auto model = Model(11)
                   .node("OneHot", {"x", "depth", "values"}, {"y"}, {{"axis", 0}})
                   .initializer("depth", longs({}, {3}));
  check(model, {{"x", longs({2}, {2, -3})}, {"values", floats({2}, {-1, 5})}},
        {{"y", floats({3, 2}, {-1, 5, -1, -1, 5, -1})}});
}

BOOST_AUTO_TEST_CASE(gathers_by_position) {
  const auto x = ramp({2, 3});
  check(Model().node("GatherElements", {"x", "i"}, {"y"}, {{"axis", 1}}),
        {{"x", x}, {"i", longs({2, 2}, {0, -1, 1, 1})}}, {{"y", floats({2, 2}, {0, 2, 4, 4})}});
  check(Model().node("GatherND", {"x", "i"}, {"y"}),
        {{"x", x}, {"i", longs({2, 2}, {1, 0, 0, -1})}}, {{"y", floats({2}, {3, 2})}});
  check(Model().node("GatherND", {"x", "i"}, {"y"}, {{"batch_dims", 1}}),
        {{"x", x}, {"i", longs({2, 1}, {2, 0})}}, {{"y", floats({2}, {2, 3})}});
}

BOOST_AUTO_TEST_CASE(scatters_by_position) {
  const auto x = ramp({2, 3});
  const auto elements = [](const std::string& reduction) {
    return Model(18).node("ScatterElements", {"x", "i", "u"}, {"y"},
                          {{"axis", 1}, {"reduction", reduction}});
  };
  const Values twice{
      {"x", x}, {"i", longs({2, 2}, {0, 0, -1, 1})}, {"u", floats({2, 2}, {10, 20, 30, 40})}};
  check(elements("none"), twice, {{"y", floats({2, 3}, {20, 1, 2, 3, 40, 30})}});
  check(elements("add"), twice, {{"y", floats({2, 3}, {30, 1, 2, 3, 44, 35})}});
  check(elements("max"), twice, {{"y", floats({2, 3}, {20, 1, 2, 3, 40, 30})}});
  check(Model(16).node("ScatterND", {"x", "i", "u"}, {"y"}, {{"reduction", "mul"}}),
        {{"x", x}, {"i", longs({2, 1}, {1, 1})}, {"u", floats({2, 3}, {2, 2, 2, 1, 10, 100})}},
        {{"y", floats({2, 3}, {0, 1, 2, 6, 80, 1000})}});
  cannot(elements("median"), twice, ErrorKind::bad_data, "'median'");
}

// Sums of messages along the edges of a graph, as its networks take them: edges by features.
BOOST_AUTO_TEST_CASE(reductions_of_real_size) {
  constexpr std::uint32_t nodes = 400, edges = 3000, features = 64;
  auto to = longs({edges, 1}, Reals(edges));
  for (std::uint32_t e = 0; e < edges; ++e) to.data[e] = e * 37 % nodes;
  const auto messages = noise({edges, features});
  auto sums = ramp({nodes, features}, 1, 0);
  for (std::uint32_t e = 0; e < edges; ++e)
    for (std::uint32_t f = 0; f < features; ++f)
      sums.data[static_cast<std::size_t>(to.data[e]) * features + f] +=
          messages.data[e * features + f];
  const Values values{{"x", ramp({nodes, features}, 1, 0)}, {"to", to}, {"m", messages}};
  check(Model(18).node("ScatterND", {"x", "to", "m"}, {"y"}, {{"reduction", "add"}}), values,
        {{"y", sums}});
  check(Model(18)
            .node("Expand", {"to", "shape"}, {"i"})
            .node("ScatterElements", {"x", "i", "m"}, {"y"}, {{"reduction", "add"}})
            .initializer("shape", list({edges, features})),
        values, {{"y", sums}});
}

BOOST_AUTO_TEST_CASE(reductions_of_integers) {
  const auto model = [](const std::string& reduction) {
    return Model(18).node("ScatterND", {"x", "i", "u"}, {"y"}, {{"reduction", reduction}});
  };
  const Values values{{"x", ints({3}, {5, 6, 7})},
                      {"i", longs({4, 1}, {0, -1, 0, -1})},
                      {"u", ints({4}, {9, -2, 4, 8})}};
  check(model("add"), values, {{"y", ints({3}, {18, 6, 13})}}, 0);
  check(model("mul"), values, {{"y", ints({3}, {180, 6, -112})}}, 0);
  check(model("max"), values, {{"y", ints({3}, {9, 6, 8})}}, 0);
  check(model("min"), values, {{"y", ints({3}, {4, 6, -2})}}, 0);
}

BOOST_AUTO_TEST_CASE(reductions_in_a_strict_context) {
  context();  // the world is there
  auto strict = World::instance()->runtime.create_context({.strict = true}).get();
  const auto import = [&](const std::string& reduction, std::uint32_t places) {
    auto model = Model(18)
                     .node("ScatterND", {"x", "i", "u"}, {"y"}, {{"reduction", reduction}})
                     .input("x", proto::TensorProto::FLOAT, {"places", 2})
                     .initializer("i", longs({4, 1}, {0, -1, 0, -1}))
                     .initializer("u", floats({4, 2}, {9, 1, -2, 2, 4, 3, 8, 4}))
                     .output("y");
    polychron::GraphBuilder builder(strict);
    return builder
        .build(
            polychron::onnx::import_model(load(model.bytes()), builder, {{{"places", {places}}}}))
        .get();
  };
  const auto gives = [&](const std::string& reduction, const std::vector<float>& expected) {
    const auto graph = import(reduction, 3);
    const auto x = strict.create_tensor({graph.inputs()[0].second, false, true, "x"}).get();
    const auto y = strict.create_tensor({graph.outputs()[0].second, true, false, "y"}).get();
    strict.write_tensor(x, std::vector<float>{5, 5, 6, 6, 7, 7});
    strict.dispatch(graph, {{"x", x}}, {{"y", y}});
    const auto result = strict.read_tensor(y).get();
    BOOST_TEST(result.as<float>() == expected, boost::test_tools::per_element());
  };
  gives("add", {18, 9, 6, 6, 13, 13});
  gives("mul", {180, 15, 6, 6, -112, 56});
  gives("max", {9, 5, 6, 6, 8, 7});
  gives("min", {4, 1, 6, 6, -2, 2});
  BOOST_CHECK_EXCEPTION(import("add", 3'000'000), polychron::Error, [](const auto& error) {
    const std::string text = error.what();
    return text.find(
               "a strict context compares 3000000 places with 4 updates of 2 elements: the "
               "product may be 16777216") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(windows_put_together) {
  const auto image = [](const Ints& size, const Ints& block, const Attributes& attributes = {}) {
    return Model(18)
        .node("Col2Im", {"x", "s", "b"}, {"y"}, attributes)
        .initializer("s", list(size))
        .initializer("b", list(block));
  };
  // Blocks of one row and two columns at 0, 1 and 2: the middle columns are in two of them.
  check(image({1, 4}, {1, 2}), {{"x", floats({1, 2, 3}, {1, 2, 3, 10, 20, 30})}},
        {{"y", floats({1, 1, 1, 4}, {1, 12, 23, 30})}});
  check(image({1, 4}, {1, 2}, {{"strides", Ints{1, 2}}}),
        {{"x", floats({1, 2, 2}, {1, 2, 10, 20})}}, {{"y", floats({1, 1, 1, 4}, {1, 10, 2, 20})}});
  check(image({1, 3}, {1, 2}, {{"dilations", Ints{1, 2}}}), {{"x", floats({1, 2, 1}, {1, 10})}},
        {{"y", floats({1, 1, 1, 3}, {1, 0, 10})}});
  // Elements in the padding are lost.
  check(image({1, 2}, {1, 2}, {{"pads", Ints{0, 1, 0, 1}}}),
        {{"x", floats({1, 2, 3}, {1, 2, 3, 10, 20, 30})}}, {{"y", floats({1, 1, 1, 2}, {12, 23})}});
  // Two of a batch, two channels, one dimension.
  check(image({2}, {1}), {{"x", ramp({2, 2, 2})}}, {{"y", ramp({2, 2, 2})}});
  cannot(image({1, 4}, {1, 2}), {{"x", ramp({1, 2, 4})}}, ErrorKind::bad_data,
         "windows of shape [1, 2, 4] for 3 blocks");
  cannot(image({1, 4}, {1, 5}), {{"x", ramp({1, 5, 1})}}, ErrorKind::bad_data,
         "the block is larger than the padded image");
  cannot(image({4'000'000'000, 1}, {1, 1}), {{"x", ramp({1, 1, 1})}}, ErrorKind::bad_data,
         "windows of shape [1, 1, 1] for");
}

BOOST_AUTO_TEST_CASE(orders) {
  const auto x = ramp({2, 3}, 1);
  check(one("Trilu", {}, 14), {{"x", x}}, {{"y", floats({2, 3}, {1, 2, 3, 0, 5, 6})}});
  check(Model(14).node("Trilu", {"x", "k"}, {"y"}, {{"upper", 0}}).initializer("k", longs({}, {1})),
        {{"x", x}}, {{"y", floats({2, 3}, {1, 2, 0, 4, 5, 6})}});
  const auto sums = [](const Attributes& attributes) {
    return Model(14).node("CumSum", {"x", "a"}, {"y"}, attributes).initializer("a", longs({}, {1}));
  };
  check(sums({}), {{"x", x}}, {{"y", floats({2, 3}, {1, 3, 6, 4, 9, 15})}});
  check(sums({{"exclusive", 1}, {"reverse", 1}}), {{"x", x}},
        {{"y", floats({2, 3}, {5, 3, 0, 11, 6, 0})}});
  check(Model().node("ReverseSequence", {"x", "n"}, {"y"}, {{"time_axis", 1}, {"batch_axis", 0}}),
        {{"x", x}, {"n", longs({2}, {3, 2})}}, {{"y", floats({2, 3}, {3, 2, 1, 5, 4, 6})}});
}

BOOST_AUTO_TEST_CASE(products_by_equation) {
  const auto a = ramp({2, 3}, 1), b = ramp({3, 2}, 1);
  const auto einsum = [](const std::string& equation, const std::vector<std::string>& inputs) {
    return Model(12).node("Einsum", inputs, {"y"}, {{"equation", equation}});
  };
  check(einsum("ij,jk->ik", {"a", "b"}), {{"a", a}, {"b", b}},
        {{"y", floats({2, 2}, {22, 28, 49, 64})}});
  check(einsum("ij -> ji", {"a"}), {{"a", a}}, {{"y", floats({3, 2}, {1, 4, 2, 5, 3, 6})}});
  check(einsum("ij->j", {"a"}), {{"a", a}}, {{"y", floats({3}, {5, 7, 9})}});
  check(einsum("...ii->...i", {"s"}), {{"s", ramp({1, 2, 2})}}, {{"y", floats({1, 2}, {0, 3})}});
  check(einsum("i,j", {"u", "v"}), {{"u", floats({2}, {1, 2})}, {"v", floats({2}, {3, 4})}},
        {{"y", floats({2, 2}, {3, 4, 6, 8})}});
  cannot(einsum("ijk->k", {"a"}), {{"a", a}}, ErrorKind::bad_data, "does not fit a rank of 2");
  check(one("Det"), {{"x", floats({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4})}},
        {{"y", floats({}, {18})}});
}

BOOST_AUTO_TEST_CASE(what_depends_on_known_values) {
  const auto x = ramp({2, 3});
  check(Model()
            .node("Compress", {"x", "c"}, {"y"}, {{"axis", 1}})
            .initializer("c", bools({3}, {1, 0, 1})),
        {{"x", x}}, {{"y", floats({2, 2}, {0, 2, 3, 5})}});
  auto unique = Model(11)
                    .node("Unique", {"v"}, {"y", "first", "where", "often"})
                    .initializer("v", floats({5}, {3, 1, 3, 2, 1}));
  check(unique, {},
        {{"y", floats({3}, {1, 2, 3})},
         {"first", list({1, 3, 0})},
         {"where", list({2, 0, 2, 1, 0})},
         {"often", list({2, 1, 2})}});
  cannot(Model(11).node("Unique", {"x"}, {"y"}), {{"x", x}}, ErrorKind::not_supported,
         "input 0 ('x') must be known");
}

BOOST_AUTO_TEST_CASE(losses) {
  const auto loss = [](const Attributes& attributes) {
    return Model(13).node("NegativeLogLikelihoodLoss", {"x", "t", "w"}, {"y"}, attributes);
  };
  const Values values{{"x", floats({3, 2}, {-1, -2, -3, -4, -5, -6})},
                      {"t", longs({3}, {1, 0, -9})},
                      {"w", floats({2}, {2, 3})}};
  check(loss({{"ignore_index", -9}, {"reduction", "none"}}), values,
        {{"y", floats({3}, {6, 6, 0})}});
  check(loss({{"ignore_index", -9}}), values, {{"y", floats({}, {12 / 5.0})}});
  const auto z = std::log(1 + std::exp(1.0));
  check(Model(13).node("SoftmaxCrossEntropyLoss", {"x", "t"}, {"y", "log"}),
        {{"x", floats({1, 2}, {4, 5})}, {"t", longs({1}, {0})}},
        {{"y", floats({}, {z})}, {"log", floats({1, 2}, {-z, 1 - z})}});
}

// 2^53 and 2^53 + 1 are one number as a double.
BOOST_AUTO_TEST_CASE(large_integers_are_told_apart) {
  Model model(13);
  model.node("Unique", {"x"}, {"u"})
      .node("Shape", {"u"}, {"y"})
      .initializer("x", longs({3}, {9007199254740992., 0, 9007199254740992.}))
      .output("y", proto::TensorProto::INT64);
  auto& bytes = *model.graph().mutable_initializer(0)->mutable_raw_data();
  bytes[8 + 6] = 0x20;  // the second: 2^53, and 1
  bytes[8] = 1;
  compare(build(load(model.bytes())), {}, {{"y", list({2})}}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
