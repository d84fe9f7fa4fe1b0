// ONNX Runtime's own operators, of the domain com.microsoft: calls with its results (version 1.30,
// of GatherBlockQuantized 1.32), which cases/make_cases.py wrote down; and calls that cannot be
// expressed.
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "polychron/session.hpp"
#include "tests/onnx/fixture.hpp"
#include "tests/paths.hpp"

using namespace onnx_tests;
using nlohmann::json;
using polychron::ErrorKind;

BOOST_AUTO_TEST_SUITE(microsoft)

namespace {

// ONNX's numbers; Debian's headers are older.
constexpr int uint4 = 21, int4 = 22;

const std::map<std::string, int> types{{"float32", proto::TensorProto::FLOAT},
                                       {"int64", proto::TensorProto::INT64},
                                       {"int32", proto::TensorProto::INT32},
                                       {"int8", proto::TensorProto::INT8},
                                       {"uint8", proto::TensorProto::UINT8},
                                       {"int4", int4},
                                       {"uint4", uint4}};

Value value_of(const json& type, const json& shape, const json& data) {
  Value value{types.at(type.get<std::string>()), shape.get<Shape>(), data.get<Reals>()};
  if (value.type != int4 && value.type != uint4) return value;
  Reals bytes((value.data.size() + 1) / 2);
  for (std::size_t i = 0; i < value.data.size(); ++i)
    bytes[i / 2] += (static_cast<int>(value.data[i]) & 0xf) << i % 2 * 4;
  value.data = bytes;
  return value;
}

Attribute attribute_of(const json& value) {
  const auto& first = value.is_array() ? value.at(0) : value;
  if (value.is_string()) return value.get<std::string>();
  if (first.is_number_integer())
    return value.is_array() ? Attribute(value.get<Ints>()) : Attribute(value.get<std::int64_t>());
  return value.is_array() ? Attribute(value.get<Reals>()) : Attribute(value.get<double>());
}

/// A node of the domain.
Model one(std::string op, const std::vector<std::string>& inputs,
          const std::vector<std::string>& outputs, const Attributes& attributes) {
  const bool own = op.starts_with(':');
  Model model(17);
  model.node(own ? op.substr(1) : op, inputs, outputs, attributes);
  if (!own) model.graph().mutable_node(0)->set_domain("com.microsoft");
  auto& import = *model.proto().add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  return model;
}

/// A test as a model, with what it is given and expected to give.
struct Case {
  Model model;
  Values given, expected;
};

Case case_of(const json& test) {
  std::vector<std::string> inputs, outputs;
  Values given, constants, expected;
  for (const auto& input : test.at("inputs")) {
    inputs.push_back(input.is_null() ? "" : "i" + std::to_string(inputs.size()));
    if (input.is_null()) continue;
    const auto value = value_of(input.at("type"), input.at("shape"), input.at("data"));
    (input.contains("constant") ? constants : given).emplace_back(inputs.back(), value);
  }
  for (const auto& output : test.at("outputs")) {
    const auto name = output.at(0).get<std::string>();
    outputs.resize(std::stoul(name.substr(1)) + 1);
    outputs.back() = name;
    expected.emplace_back(name, value_of(output.at(1), output.at(2), output.at(3)));
  }
  Attributes attributes;
  for (const auto& [name, value] : test.at("attributes").items())
    attributes.emplace_back(name, attribute_of(value));
  auto model = one(test.at("op").get<std::string>(), inputs, outputs, attributes);
  for (const auto& [name, value] : constants) model.initializer(name, value);
  return {std::move(model), std::move(given), std::move(expected)};
}

json all_cases() {
  std::ifstream file(polychron::testing::source_directory() + "/tests/onnx/cases/microsoft.json");
  return json::parse(file);
}

}  // namespace

BOOST_AUTO_TEST_CASE(results_are_those_of_onnx_runtime) {
  const auto tests = all_cases();
  BOOST_TEST(tests.size() > 60U);
  for (const auto& test : tests) BOOST_TEST_CONTEXT(test.at("op") << " " << test.at("name")) {
      auto one_case = case_of(test);
      check(one_case.model, one_case.given, one_case.expected, test.value("tolerance", 2e-5));
    }
}

// Also of several sequences, of buffers, and with a window.
BOOST_AUTO_TEST_CASE(grouped_queries_over_a_past_are_one_step) {
  std::size_t pasts = 0;
  for (const auto& test : all_cases()) {
    if (test.at("op") != "GroupQueryAttention" || test.at("inputs").at(3).is_null()) continue;
    auto [model, given, expected] = case_of(test);
    for (const auto& [name, value] : given) model.input(name, value);
    for (const auto& [name, value] : expected) model.output(name, value.type);
    const auto graph = build(load(model.bytes()));
    const auto steps = std::ranges::count_if(graph.plan(), [](const std::string& step) {
      return step.find("cachedAttention") != std::string::npos;
    });
    BOOST_TEST(steps == 1, test.at("name"));
    ++pasts;
  }
  BOOST_TEST(pasts > 5U);
}

// A past that is longer than its tokens gives what a past without the rest gives, whatever the rest
// is, and the new steps are those at the end of the present.
BOOST_AUTO_TEST_CASE(new_steps_alone_leave_the_past_in_place) {
  constexpr std::uint32_t known = 5, features = 16;
  const auto row = [](Value value, std::uint32_t from, std::uint32_t rows) {
    Reals part;
    const auto length = value.shape[2], last = value.shape[3];
    for (std::uint32_t group = 0; group < value.shape[1]; ++group)
      for (std::uint32_t i = from * last; i < (from + rows) * last; ++i)
        part.push_back(value.data[group * length * last + i]);
    value.shape[2] = rows;
    value.data = part;
    return value;
  };
  for (const std::uint32_t queries : {1U, 3U})
    for (const std::uint32_t room : {0U, 9U}) {
      const std::uint32_t past = known + room;
      auto keys = noise({1, 2, past, features}, 2), values = noise({1, 2, past, features}, 3);
      for (auto* cache : {&keys, &values})
        for (std::size_t i = 0; i < cache->data.size(); ++i)
          if (i / features % past >= known) cache->data[i] = NAN;
      const auto graph = [&](std::uint32_t length, bool alone) {
        auto model =
            one("GroupQueryAttention", {"q", "k", "v", "pk", "pv", "n", "t", "c", "s"},
                {"y", "nk", "nv"}, {{"num_heads", 4}, {"kv_num_heads", 2}, {"do_rotary", 1}});
        model.initializer("t", ints({}, {static_cast<double>(length + queries)}));
        model.initializer("c", noise({32, 8}, 4)).initializer("s", noise({32, 8}, 5));
        model.input("q", noise({1, queries, 64})).input("n", ints({1}, {0}));
        for (const char* name : {"k", "v"}) model.input(name, noise({1, queries, 32}));
        for (const char* name : {"pk", "pv"}) model.input(name, noise({1, 2, length, features}));
        for (const char* name : {"y", "nk", "nv"}) model.output(name);
        polychron::GraphBuilder builder(context());
        polychron::onnx::ImportOptions options;
        options.only_new_steps = alone;
        return builder.build(polychron::onnx::import_model(load(model.bytes()), builder, options))
            .get();
      };
      Values given{{"q", noise({1, queries, 64})},
                   {"k", noise({1, queries, 32}, 6)},
                   {"v", noise({1, queries, 32}, 7)},
                   {"pk", row(keys, 0, known)},
                   {"pv", row(values, 0, known)},
                   {"n", ints({1}, {static_cast<double>(known + queries - 1)})}};
      const auto whole = run(graph(known, false), given);
      const Shape present{1, 2, known + queries, features};
      given[3].second = keys;
      given[4].second = values;
      compare(graph(past, true), given,
              {{"y", floats({1, queries, 64}, whole[0].second)},
               {"nk", row(floats(present, whole[1].second), known, queries)},
               {"nv", row(floats(present, whole[2].second), known, queries)}},
              1e-6);
    }
}

BOOST_AUTO_TEST_CASE(new_steps_alone_are_refused_where_a_node_reads_the_present) {
  auto model = one("GroupQueryAttention", {"q", "k", "v", "pk", "pv", "n", "t"}, {"y", "nk", "nv"},
                   {{"num_heads", 4}, {"kv_num_heads", 2}});
  model.node("Identity", {"nv"}, {"z"}, {}).initializer("t", ints({}, {6}));
  model.input("q", noise({1, 1, 64})).input("k", noise({1, 1, 32})).input("v", noise({1, 1, 32}));
  model.input("pk", noise({1, 2, 5, 16})).input("pv", noise({1, 2, 5, 16}));
  model.input("n", ints({1}, {5})).output("y").output("z");
  polychron::GraphBuilder builder(context());
  polychron::onnx::ImportOptions options;
  options.only_new_steps = true;
  const auto loaded = load(model.bytes());
  BOOST_CHECK_EXCEPTION(polychron::onnx::import_model(loaded, builder, options), polychron::Error,
                        [](const polychron::Error& error) {
                          return error.kind() == ErrorKind::not_supported &&
                                 std::string(error.what()).find("operator 'Identity' reads 'nv'") !=
                                     std::string::npos;
                        });
}

// ONNX Runtime packs them on other devices only: the results are those of separate inputs.
BOOST_AUTO_TEST_CASE(query_key_and_value_may_be_packed) {
  constexpr std::uint32_t batch = 2, steps = 3, heads = 2, features = 2, width = heads * features;
  const auto separate = [](double first) {
    Reals data(batch * steps * width);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = first + static_cast<double>(i * 7 % 11) / 8;
    return data;
  };
  const std::vector<Reals> parts{separate(-0.5), separate(0.25), separate(-1)};
  const auto pack = [&](std::size_t from, std::uint32_t count) {
    Reals data;
    for (std::size_t row = 0; row < batch * steps * heads; ++row)
      for (std::size_t part = from; part < from + count; ++part)
        for (std::size_t i = 0; i < features; ++i) data.push_back(parts[part][row * features + i]);
    return floats({batch, steps, heads, count, features}, data);
  };
  const auto bias = floats({3 * width}, {0.5, -1, 0, 0.25, 1, -0.5, 0, 2, 0.125, 0, -2, 1});
  const auto of = [&](const std::vector<std::string>& names, const Values& inputs) {
    auto model = one("MultiHeadAttention", names, {"y"}, {{"num_heads", 2}});
    for (const auto& [name, value] : inputs) model.input(name, value);
    model.output("y");
    return run(build(load(model.bytes())), inputs).front().second;
  };
  const Shape shape{batch, steps, width};
  const Values apart{{"q", floats(shape, parts[0])},
                     {"k", floats(shape, parts[1])},
                     {"v", floats(shape, parts[2])},
                     {"b", bias}};
  const auto expected = of({"q", "k", "v", "b"}, apart);
  BOOST_TEST(of({"x", "", "", "b"}, {{"x", pack(0, 3)}, {"b", bias}}) == expected,
             boost::test_tools::per_element());
  BOOST_TEST(of({"q", "x", "", "b"}, {apart[0], {"x", pack(1, 2)}, {"b", bias}}) == expected,
             boost::test_tools::per_element());
}

// ONNX Runtime's own results, among the cases, are off by its rounding of states.
BOOST_AUTO_TEST_CASE(weights_in_steps_are_those_of_a_plain_lstm) {
  constexpr std::uint32_t width = 3, hidden = 2, gates = 4 * hidden;
  constexpr int int8 = proto::TensorProto::INT8;
  const std::vector<std::string> names{"x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"};
  const auto steps = [](std::uint32_t rows) {
    auto value = ramp({2, rows, gates}, -100, 4);
    for (auto& element : value.data) element = std::fmod(element * 7, 128);
    value.type = int8;
    return value;
  };
  for (const bool each_row : {false, true}) {
    const Shape shape = each_row ? Shape{2, gates} : Shape{2};
    const auto scales = ramp(shape, 0.01, 0.005);
    auto zeros = ramp(shape, -3, 1);
    zeros.type = int8;
    const auto turned = [&](const Value& weights) {
      const auto rows = weights.shape[1];
      auto real = ramp({2, gates, rows});
      for (std::uint32_t i = 0; i < 2 * rows * gates; ++i) {
        const auto d = i / (rows * gates), row = i / gates % rows, gate = i % gates;
        const auto at = each_row ? d * gates + gate : d;
        real.data[(d * gates + gate) * rows + row] =
            (weights.data[i] - zeros.data[at]) * scales.data[at];
      }
      return real;
    };
    const auto x = noise({4, 2, width});
    const Attributes attributes{{"hidden_size", hidden}, {"direction", "bidirectional"}};
    const Values plain{{"x", x}, {"w", turned(steps(width))}, {"r", turned(steps(hidden))}};
    auto model = Model(17).node("LSTM", {"x", "w", "r"}, {"y"}, attributes).output("y");
    for (const auto& [name, value] : plain) model.input(name, value);
    const auto expected = run(build(load(model.bytes())), plain).front().second;
    check(one("DynamicQuantizeLSTM", names, {"y"}, attributes),
          {{"x", x},
           {"w", steps(width)},
           {"r", steps(hidden)},
           {"ws", scales},
           {"wz", zeros},
           {"rs", scales},
           {"rz", zeros}},
          {{"y", floats({4, 2, 2, hidden}, expected)}});
  }
  cannot(one("DynamicQuantizeLSTM", names, {"y"}, {{"hidden_size", hidden}}),
         {{"x", noise({4, 2, width})},
          {"w", steps(width)},
          {"r", steps(hidden)},
          {"ws", ramp({2, 1, 1})},
          {"wz", Value{int8, {2}, {0, 0}}},
          {"rs", ramp({2})},
          {"rz", Value{int8, {2}, {0, 0}}}},
         ErrorKind::bad_data, "scales or zero points of shape [2, 1, 1]");
}

// ONNX Runtime refuses zero points of floats for 8 bits.
BOOST_AUTO_TEST_CASE(zero_points_of_8_bit_weights_may_be_floats) {
  auto model = one("MatMulNBits", {"x", "b", "s", "z"}, {"y"},
                   {{"K", 16}, {"N", 2}, {"bits", 8}, {"block_size", 16}});
  auto b = ramp({2, 1, 16}, 0, 8);
  b.type = proto::TensorProto::UINT8;
  model.initializer("b", b);
  const auto x = noise({1, 16});
  Reals y(2);
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t i = 0; i < 16; ++i)
      y[n] += x.data[i] * (b.data[n * 16 + i] - (n == 0 ? 100.25 : 130.5)) * (n == 0 ? 0.5 : 0.25);
  check(model, {{"x", x}, {"s", floats({2}, {0.5, 0.25})}, {"z", floats({2}, {100.25, 130.5})}},
        {{"y", floats({1, 2}, y)}});
}

// A strict context has no integers of 4 bits. Another keeps the weights as the file has them.
BOOST_AUTO_TEST_CASE(weights_of_4_bits_stay_packed_where_they_can) {
  constexpr std::uint32_t rows = 2048, inner = 4096, block = 128;
  auto model = one("MatMulNBits", {"x", "b", "s"}, {"y"},
                   {{"K", inner}, {"N", rows}, {"bits", 4}, {"block_size", block}});
  auto b = ramp({rows, inner / block, block / 2});
  for (auto& byte : b.data) byte = std::fmod(byte * 37, 256);
  b.type = proto::TensorProto::UINT8;
  model.initializer("b", b).initializer("s", ramp({rows * inner / block}, 0, 0.001));
  const auto x = noise({1, inner});
  const auto loaded = load(model.input("x", x).output("y").bytes());
  const std::vector<float> values(x.data.begin(), x.data.end());
  const auto strict = World::instance()->runtime.create_context({.strict = true}).get();
  const polychron::onnx::Session there(strict, loaded), here(context(), loaded);
  const auto expected = there.run({{"x", values}}).get(), got = here.run({{"x", values}}).get();
  BOOST_TEST(from_bytes(proto::TensorProto::FLOAT, got.front().second.bytes()) ==
                 from_bytes(proto::TensorProto::FLOAT, expected.front().second.bytes()),
             boost::test_tools::per_element());
  BOOST_TEST(here.graph().memory().constants < std::size_t{rows} * inner * 5 / 8);
  BOOST_TEST(there.graph().memory().constants > std::size_t{rows} * inner);
}

// Scales have one dimension in the file, and zero points may be floats.
BOOST_AUTO_TEST_CASE(small_weights_of_4_bits_are_multiplied_as_they_are) {
  for (const bool real_zeros : {false, true}) {
    auto model = one("MatMulNBits", {"x", "b", "s", "z"}, {"y"},
                     {{"K", 64}, {"N", 32}, {"bits", 4}, {"block_size", 32}});
    auto b = ramp({32, 2, 16});
    for (auto& byte : b.data) byte = std::fmod(byte * 37, 256);
    b.type = proto::TensorProto::UINT8;
    auto z = real_zeros ? ramp({32, 2}, 0, 0.5) : ramp({32});
    if (!real_zeros) z.type = proto::TensorProto::UINT8;
    model.initializer("b", b).initializer("s", ramp({64}, 0, 0.25)).initializer("z", z);
    const auto loaded = load(model.input("x", noise({3, 64})).output("y").bytes());
    const polychron::onnx::Session session(context(), loaded);
    BOOST_REQUIRE_EQUAL(session.graph().plan().size(), 1U);
    const auto& step = session.graph().plan().front();
    BOOST_TEST(step.find("packedProduct") != std::string::npos, step);
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_said_is_named) {
  const auto refused = [](const std::string& op, const Attributes& attributes, const Values& inputs,
                          const std::vector<std::string>& names, const std::string& words) {
    cannot(one(op, names, {"y"}, attributes), inputs, ErrorKind::not_supported, words);
  };
  const auto x = ramp({1, 2, 4});
  const auto picture = ramp({1, 1, 3, 3});
  refused("FusedConv", {{"activation", "Softplus"}}, {{"x", picture}, {"w", picture}}, {"x", "w"},
          "attribute 'activation' of 'Softplus'");
  refused("Attention", {{"num_heads", 2}, {"do_rotary", 1}}, {{"x", x}, {"w", ramp({4, 12})}},
          {"x", "w"}, "attribute 'do_rotary' of 1");
  cannot(one("MultiHeadAttention", {"x"}, {"y"}, {{"num_heads", 2}}),
         {{"x", ramp({1, 2, 2, 2, 2})}}, ErrorKind::bad_data,
         "expected [batch, steps, heads, 3, features]");
  refused("MultiHeadAttention", {{"num_heads", 2}}, {{"x", x}, {"n", ints({1}, {1})}},
          {"x", "x", "x", "", "", "", "", "", "n"}, "input 'past_sequence_length'");
  refused("GroupQueryAttention", {{"num_heads", 2}, {"kv_num_heads", 2}, {"smooth_softmax", 1}},
          {{"x", x}, {"n", ints({1}, {1})}}, {"x", "x", "x", "", "", "n", "n"},
          "attribute 'smooth_softmax' of 1");
  auto grouped = one("GroupQueryAttention", {"x", "x", "x", "p", "p", "n", "t"}, {"y"},
                     {{"num_heads", 2}, {"kv_num_heads", 2}});
  cannot(grouped.initializer("t", ints({}, {6})),
         {{"x", x}, {"p", ramp({1, 2, 5, 2})}, {"n", ints({1}, {5})}}, ErrorKind::bad_data,
         "a total length of 6 for 5 past and 2 new steps");
  cannot(one("SkipLayerNormalization", {"x", "x", "g"}, {"y", "mean"}, {}),
         {{"x", x}, {"g", ramp({4})}}, ErrorKind::not_supported, "output 'mean'");
  refused(
      "MatMulNBits", {{"K", 4}, {"N", 1}, {"bits", 4}, {"block_size", 16}},
      {{"x", x}, {"b", Value{proto::TensorProto::UINT8, {1, 1, 8}, Reals(8)}}, {"s", ramp({1})}},
      {"x", "b", "s"}, "input 1 ('b') must be known");
  refused("MatMulNBits", {{"K", 4}, {"N", 1}, {"bits", 4}, {"block_size", 16}},
          {{"x", x}, {"i", ints({4}, {0, 0, 0, 0})}}, {"x", "x", "x", "", "i"}, "input 'g_idx'");
  refused(
      "MatMulFpQ4", {}, {{"x", x}}, {"x"},
      "the importer does not know it; of domain 'com.microsoft' it knows Attention, BiasGelu, ");
  refused("MatMulFpQ4", {}, {{"x", x}}, {"x"}, ", SkipSimplifiedLayerNormalization (docs/onnx.md)");
}

// An error names what is known, and the page lists it.
BOOST_AUTO_TEST_CASE(the_page_lists_each_known_operator) {
  std::ifstream file(polychron::testing::source_directory() + "/docs/onnx.md");
  std::string page((std::istreambuf_iterator<char>(file)), {});
  page = page.substr(page.find("### ONNX Runtime's own operators"));
  page.resize(page.find("## Not imported"));
  std::string told;
  try {
    build(load(one("Mystery", {"x"}, {"y"}, {}).input("x", ramp({1})).output("y").bytes()));
  } catch (const polychron::Error& error) {
    told = error.what();
  }
  const std::string before = "it knows ";
  std::istringstream names(told.substr(told.find(before) + before.size()));
  int count = 0;
  for (std::string name; names >> name && name.front() != '('; ++count) {
    if (name.back() == ',') name.pop_back();
    BOOST_TEST(page.find(name) != std::string::npos, name);
  }
  BOOST_TEST(count > 25);
}

BOOST_AUTO_TEST_SUITE_END()
