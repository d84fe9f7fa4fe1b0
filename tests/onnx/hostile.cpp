// Truncated and damaged models: each gives a result or an Error, and nothing else happens.
#include <cstdlib>
#include <random>
#include <set>

#include "tests/onnx/fixture.hpp"

using namespace onnx_tests;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(hostile)

namespace {

/// A model that has a bit of everything, in both ways of storing weights.
std::string sample() {
  Model model;
  model.node("Conv", {"x", "w", "b"}, {"c"}, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}})
      .node("BatchNormalization", {"c", "b", "b", "b", "b"}, {"n"}, {{"epsilon", 0.5}})
      .node("Clip", {"n", "low", "high"}, {"k"})
      .node("MaxPool", {"k"}, {"p"}, {{"kernel_shape", Ints{2, 2}}, {"auto_pad", "SAME_UPPER"}})
      .node("Resize", {"p", "", "scales"}, {"u"}, {{"mode", "linear"}})
      .node("Shape", {"u"}, {"s"})
      .node("Slice", {"s", "zero", "two"}, {"head"})
      .node("Concat", {"head", "minus"}, {"to"}, {{"axis", 0}})
      .node("Reshape", {"u", "to"}, {"r"})
      .node("Transpose", {"r"}, {"t"}, {{"perm", Ints{0, 2, 1}}})
      .node("Softmax", {"t"}, {"m"}, {{"axis", 2}})
      .node("ReduceSum", {"m", "two_"}, {"q"}, {{"keepdims", 0}})
      .node("Pad", {"q", "pads"}, {"d"})
      .node("Gather", {"d", "at"}, {"g"}, {{"axis", 1}})
      .node("Expand", {"g", "wide"}, {"e"})
      .node("Split", {"e"}, {"y", "z"}, {{"axis", 0}})
      .node("Tile", {"zero", "two"}, {"tiled"})
      .node("Range", {"a", "l", "one"}, {"range"})
      .node("ConstantOfShape", {"two"}, {"ones"}, {{"value", floats({1}, {1})}})
      .initializer("w", noise({2, 1, 3, 3}))
      .initializer("b", ramp({2}, 1))
      .initializer("low", floats({}, {0}))
      .initializer("high", floats({}, {6}))
      .initializer("scales", floats({4}, {1, 1, 2, 2}))
      .initializer("zero", list({0}))
      .initializer("two", list({2}))
      .initializer("two_", list({2}))
      .initializer("minus", list({-1}))
      .initializer("pads", list({0, 1, 0, 1}))
      .initializer("at", list({1, -1}))
      .initializer("wide", list({2, 1, 2}))
      .initializer("a", longs({}, {0}))
      .initializer("l", longs({}, {5}))
      .initializer("one", longs({}, {1}))
      .input("x", proto::TensorProto::FLOAT, {1, 1, "h", 8})
      .output("y")
      .output("tiled", proto::TensorProto::INT64)
      .output("range", proto::TensorProto::INT64)
      .output("ones");
  auto& typed = *model.graph().mutable_initializer(1);
  typed.clear_raw_data();
  typed.add_float_data(1), typed.add_float_data(2);
  return model.bytes();
}

/// Loads and imports; true if that succeeded. Any exception but an Error of the expected kinds
/// fails.
bool survives(const std::string& bytes,
              const std::map<std::string, Shape>& bindings = {{"x", {1, 1, 8, 8}}}) {
  static const std::set<ErrorKind> kinds{ErrorKind::bad_data, ErrorKind::not_supported,
                                         ErrorKind::type_error, ErrorKind::out_of_memory};
  try {
    const auto model = load(bytes);
    polychron::GraphBuilder builder(context());
    polychron::onnx::import_model(model, builder, {bindings});
    return true;
  } catch (const polychron::Error& error) {
    BOOST_TEST((kinds.count(error.kind()) == 1), error.what());
    const std::string what = error.what();
    BOOST_TEST((what.find('\n') == std::string::npos), "an error of more than one line");
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_sample_itself) {
  const auto graph = build(load(sample()), {{"h", {8}}});
  BOOST_TEST(graph.outputs().size() == 4U);
}

BOOST_AUTO_TEST_CASE(truncated_anywhere) {
  const auto whole = sample();
  // The rest after a cut is a model of its own only where whole fields are cut off.
  std::size_t taken = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) taken += survives(whole.substr(0, size));
  BOOST_TEST_MESSAGE(whole.size() << " truncations, " << taken << " of them models");
  BOOST_TEST(taken < 20U);
}

BOOST_AUTO_TEST_CASE(bytes_changed_at_random) {
  const auto* fixed = std::getenv("POLYCHRON_SEED");
  const auto seed = fixed ? std::strtoul(fixed, nullptr, 10) : std::random_device{}();
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto whole = sample();
  std::size_t taken = 0;
  constexpr int cases = 4000;
  for (int i = 0; i < cases; ++i) {
    auto damaged = whole;
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      auto& byte = damaged[random() % damaged.size()];
      constexpr unsigned char edges[]{0x00, 0x01, 0x7f, 0x80, 0xff};
      byte = static_cast<char>(random() % 2 == 0 ? edges[random() % 5] : random());
    }
    BOOST_TEST_CONTEXT("POLYCHRON_SEED=" << seed << ", case " << i) taken += survives(damaged);
  }
  BOOST_TEST_MESSAGE(cases << " damaged models, " << taken << " of them still models");
  BOOST_TEST(taken > 0U);
  BOOST_TEST(taken < std::size_t{cases});
}

BOOST_AUTO_TEST_CASE(numbers_changed_at_random) {
  const auto* fixed = std::getenv("POLYCHRON_SEED");
  const auto seed = fixed ? std::strtoul(fixed, nullptr, 10) : std::random_device{}();
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  std::mt19937_64 random(seed);
  constexpr std::int64_t edges[]{0,    1,       -1,        2,         -2,        3,         7,
                                 1000, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 65536};
  const auto whole = sample();
  for (int i = 0; i < 2000; ++i) {
    proto::ModelProto model;
    BOOST_REQUIRE(model.ParseFromString(whole));
    auto& graph = *model.mutable_graph();
    auto& node = *graph.mutable_node(static_cast<int>(random() % 19));
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_i()) attribute.set_i(edges[random() % std::size(edges)]);
      for (auto& number : *attribute.mutable_ints())
        if (random() % 2 == 0) number = edges[random() % std::size(edges)];
    }
    auto& tensor = *graph.mutable_initializer(static_cast<int>(5 + random() % 10));
    auto& raw = *tensor.mutable_raw_data();
    const auto number = edges[random() % std::size(edges)];
    if (raw.size() >= sizeof number) std::memcpy(raw.data(), &number, sizeof number);
    BOOST_TEST_CONTEXT("POLYCHRON_SEED=" << seed << ", case " << i)
    survives(model.SerializeAsString());
  }
}

BOOST_AUTO_TEST_CASE(nested_without_end) {
  // Graphs in attributes of graphs: protobuf's limit on depth holds.
  proto::ModelProto model;
  BOOST_REQUIRE(model.ParseFromString(sample()));
  auto* graph = model.mutable_graph();
  for (int depth = 0; depth < 200; ++depth) {
    auto* attribute = graph->add_node()->add_attribute();
    attribute->set_type(proto::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  BOOST_TEST(!survives(model.SerializeAsString()));
}

BOOST_AUTO_TEST_CASE(pools_of_no_picture) {
  // MaxUnpool calculates with its shape and its numbers before any operator sees them.
  const auto unpool = [](const Value& x, const Attributes& attributes) {
    Model model;
    model.node("MaxUnpool", {"x", "i"}, {"y"}, attributes)
        .initializer("i", longs(x.shape, Reals(x.data.size(), 0)))
        .input("x", x)
        .output("y");
    return survives(model.bytes(), {});
  };
  BOOST_TEST(unpool(ramp({1, 1, 3}), {{"kernel_shape", Ints{2}}}));
  BOOST_TEST(!unpool(floats({}, {1}), {{"kernel_shape", Ints{}}}));
  BOOST_TEST(!unpool(ramp({1}), {{"kernel_shape", Ints{2}}}));
  for (const auto number : {INT64_MAX, INT64_MIN, std::int64_t{-1}, std::int64_t{1} << 62}) {
    BOOST_TEST(!unpool(ramp({1, 1, 3}), {{"kernel_shape", Ints{number}}}));
    BOOST_TEST(!unpool(ramp({1, 1, 3}), {{"kernel_shape", Ints{2}}, {"strides", Ints{number}}}));
    BOOST_TEST(!unpool(ramp({1, 1, 3}), {{"kernel_shape", Ints{2}}, {"pads", Ints{number, 0}}}));
  }
}

BOOST_AUTO_TEST_CASE(batches_that_differ) {
  // Scan of opset 8: what is scanned in batches has as many of them everywhere, or is refused.
  const auto scan = [](const Value& state, const Value& x) {
    Model model(8);
    model.node("Scan", {"", "s", "x"}, {"y", "z"}, {{"num_scan_inputs", 1}})
        .initializer("s", state)
        .initializer("x", x)
        .output("y")
        .output("z");
    auto& attribute = *model.graph().mutable_node(0)->add_attribute();
    attribute.set_name("body");
    attribute.set_type(proto::AttributeProto::GRAPH);
    auto& body = *attribute.mutable_g();
    for (const auto* name : {"a", "b"}) body.add_input()->set_name(name);
    for (const auto* name : {"c", "d"}) {
      auto& node = *body.add_node();
      node.set_op_type("Add");
      node.add_input("a");
      node.add_input("b");
      node.add_output(name);
      body.add_output()->set_name(name);
    }
    return survives(model.bytes(), {});
  };
  BOOST_TEST(scan(ramp({2}), ramp({2, 3})));
  BOOST_TEST(!scan(floats({0}, {}), ramp({2, 3})));
  BOOST_TEST(!scan(floats({1}, {1}), ramp({2, 3})));
  BOOST_TEST(!scan(floats({}, {1}), ramp({2, 3})));
  BOOST_TEST(!scan(ramp({2}), floats({}, {1})));
}

BOOST_AUTO_TEST_CASE(networks_of_many_directions) {
  // Activations are listed per direction: of weights with three of them none is looked up.
  for (const std::uint32_t directions : {3U, 70'000U}) {
    Model model(14);
    model.node("GRU", {"x", "w", "r"}, {"y"}, {{"hidden_size", 1}})
        .initializer("x", ramp({2, 1, 1}))
        .initializer("w", ramp({directions, 3, 1}))
        .initializer("r", ramp({directions, 3, 1}))
        .output("y");
    BOOST_TEST(!survives(model.bytes(), {}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
