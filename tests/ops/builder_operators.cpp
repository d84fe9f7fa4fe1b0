// GraphBuilder's operators: each row has a method that makes the operator of its name, and takes
// only operands of its own builder (rule F), also as options.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ops/table.hpp"
#include "tests/ops/world.hpp"
#include "tests/paths.hpp"

using namespace polychron;
using testing::World;

namespace {

/// The call is refused as one of operator `name` with a foreign operand `operand`.
template <class F>
void foreign(const std::string& name, const std::string& operand, F&& call) {
  try {
    call();
    BOOST_ERROR(name << " accepted a foreign operand");
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::type_error));
    const auto expected = name + ": operand '" + operand + "' belongs to another builder";
    BOOST_TEST(error.message().starts_with(expected), error.message() << " is not " << expected);
  }
}

std::string operand_name(const std::string& name, std::size_t index) {
  const auto& row = *ops::find(name);
  if (row.call.variadic())
    return std::string(row.operands()[0].name) + "[" + std::to_string(index) + "]";
  return std::string(row.operands()[index].name);
}

/// Without what tells "reduceLogSumExp" from "reduce_log_sum_exp".
std::string letters(const std::string& name) {
  std::string text;
  for (const char c : name)
    if (c != '_') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(builder_operators, World)

BOOST_AUTO_TEST_CASE(f_operands_are_the_builders_own) {
  GraphBuilder builder(context);
  GraphBuilder stranger(context);
  const OperandDescriptor descriptor{DataType::float32, {1, 1, 2, 2}};
  const auto own = builder.input("x", descriptor);
  const auto other = stranger.input("x", descriptor);
  for (const auto& row : ops::rows()) {
    const std::string name(row.name);
    const std::size_t count = row.call.variadic() ? 3 : row.operands().size();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<const Operand*> operands(count, &own);
      operands[i] = &other;
      foreign(name, operand_name(name, i), [&] { builder.apply(name, operands); });
    }
  }
}

// The methods keep the order of their operands.
BOOST_AUTO_TEST_CASE(f_methods_keep_the_order_of_their_operands) {
  GraphBuilder builder(context);
  GraphBuilder stranger(context);
  const OperandDescriptor descriptor{DataType::float32, {1, 1, 2, 2}};
  const auto own = builder.input("x", descriptor);
  const auto other = stranger.input("x", descriptor);
  foreign("sub", "b", [&] { builder.sub(own, other); });
  foreign("prelu", "slope", [&] { builder.prelu(own, other); });
  foreign("conv2d", "filter", [&] { builder.conv2d(own, other); });
  foreign("gather", "indices", [&] { builder.gather(own, other); });
  foreign("gatherElements", "indices", [&] { builder.gather_elements(own, other); });
  foreign("gatherND", "indices", [&] { builder.gather_nd(own, other); });
  foreign("scatterElements", "indices", [&] { builder.scatter_elements(own, other, own); });
  foreign("scatterElements", "updates", [&] { builder.scatter_elements(own, own, other); });
  foreign("scatterND", "indices", [&] { builder.scatter_nd(own, other, own); });
  foreign("scatterND", "updates", [&] { builder.scatter_nd(own, own, other); });
  foreign("concat", "inputs[1]", [&] { builder.concat({own, other}, 0); });
  foreign("where", "trueValue", [&] { builder.where(own, other, own); });
  foreign("where", "falseValue", [&] { builder.where(own, own, other); });
  foreign("split", "input", [&] { builder.split(other, std::vector<std::uint32_t>{1, 1}); });
  foreign("batchNormalization", "mean", [&] { builder.batch_normalization(own, other, own); });
  foreign("batchNormalization", "variance", [&] { builder.batch_normalization(own, own, other); });
}

BOOST_AUTO_TEST_CASE(f_methods_of_quantization_and_networks_too) {
  GraphBuilder builder(context);
  GraphBuilder stranger(context);
  const OperandDescriptor descriptor{DataType::float32, {1, 1, 2, 2}};
  const auto own = builder.input("x", descriptor);
  const auto other = stranger.input("x", descriptor);
  foreign("quantizeLinear", "scale", [&] { builder.quantize_linear(own, other, own); });
  foreign("quantizeLinear", "zeroPoint", [&] { builder.quantize_linear(own, own, other); });
  foreign("dequantizeLinear", "scale", [&] { builder.dequantize_linear(own, other, own); });
  foreign("dequantizeLinear", "zeroPoint", [&] { builder.dequantize_linear(own, own, other); });
  foreign("gru", "weight", [&] { builder.gru(own, other, own, 1, 1); });
  foreign("gru", "recurrentWeight", [&] { builder.gru(own, own, other, 1, 1); });
  foreign("lstm", "weight", [&] { builder.lstm(own, other, own, 1, 1); });
  foreign("lstm", "recurrentWeight", [&] { builder.lstm(own, own, other, 1, 1); });
  foreign("gruCell", "hiddenState", [&] { builder.gru_cell(own, own, own, other, 1); });
  foreign("lstmCell", "hiddenState", [&] { builder.lstm_cell(own, own, own, other, own, 1); });
  foreign("lstmCell", "cellState", [&] { builder.lstm_cell(own, own, own, own, other, 1); });
  const auto options = [&](const std::string& name, auto given, auto&& call, auto... members) {
    const auto option = [&](const char* operand, auto member) {
      given.*member = other;
      foreign(name, operand, [&] { call(given); });
      (given.*member).reset();
    };
    (option(members.first, members.second), ...);
  };
  options(
      "gru", GruOptions{}, [&](const auto& o) { builder.gru(own, own, own, 1, 1, o); },
      std::pair{"bias", &GruOptions::bias}, std::pair{"recurrentBias", &GruOptions::recurrent_bias},
      std::pair{"initialHiddenState", &GruOptions::initial_hidden_state});
  options(
      "gruCell", GruCellOptions{},
      [&](const auto& o) { builder.gru_cell(own, own, own, own, 1, o); },
      std::pair{"bias", &GruCellOptions::bias},
      std::pair{"recurrentBias", &GruCellOptions::recurrent_bias});
  options(
      "lstm", LstmOptions{}, [&](const auto& o) { builder.lstm(own, own, own, 1, 1, o); },
      std::pair{"bias", &LstmOptions::bias},
      std::pair{"recurrentBias", &LstmOptions::recurrent_bias},
      std::pair{"peepholeWeight", &LstmOptions::peephole_weight},
      std::pair{"initialHiddenState", &LstmOptions::initial_hidden_state},
      std::pair{"initialCellState", &LstmOptions::initial_cell_state});
  options(
      "lstmCell", LstmCellOptions{},
      [&](const auto& o) { builder.lstm_cell(own, own, own, own, own, 1, o); },
      std::pair{"bias", &LstmCellOptions::bias},
      std::pair{"recurrentBias", &LstmCellOptions::recurrent_bias},
      std::pair{"peepholeWeight", &LstmCellOptions::peephole_weight});
}

BOOST_AUTO_TEST_CASE(f_optional_operands_too) {
  GraphBuilder builder(context);
  GraphBuilder stranger(context);
  const OperandDescriptor descriptor{DataType::float32, {1, 1, 2, 2}};
  const auto own = builder.input("x", descriptor);
  const auto other = stranger.input("x", descriptor);
  Conv2dOptions conv;
  conv.bias = other;
  foreign("conv2d", "bias", [&] { builder.conv2d(own, own, conv); });
  ConvTranspose2dOptions transposed;
  transposed.bias = other;
  foreign("convTranspose2d", "bias", [&] { builder.conv_transpose2d(own, own, transposed); });
  GemmOptions gemm;
  gemm.c = other;
  foreign("gemm", "c", [&] { builder.gemm(own, own, gemm); });
  const auto scale_and_bias = [&](const std::string& name, auto options, auto&& call) {
    options.scale = other;
    foreign(name, "scale", [&] { call(options); });
    options.scale.reset();
    options.bias = other;
    foreign(name, "bias", [&] { call(options); });
  };
  scale_and_bias("batchNormalization", BatchNormalizationOptions{},
                 [&](const auto& options) { builder.batch_normalization(own, own, own, options); });
  scale_and_bias("instanceNormalization", InstanceNormalizationOptions{},
                 [&](const auto& options) { builder.instance_normalization(own, options); });
  scale_and_bias("layerNormalization", LayerNormalizationOptions{},
                 [&](const auto& options) { builder.layer_normalization(own, options); });
}

// The header is the list of methods: each passes on the name of a row, which is its own.
BOOST_AUTO_TEST_CASE(every_row_has_a_method) {
  std::ifstream file(polychron::testing::source_directory() +
                     "/include/polychron/graph_builder.hpp");
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  const auto text = std::regex_replace(whole, std::regex("//[^\n]*"), "");
  const std::regex method(
      R"re((\w+)\([^{}]*(?:\{\})?\) \{\s*return [\w:(]*(?:one|apply)\(\s*"(\w+)")re");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), method), end; at != end; ++at) {
    names.insert((*at)[2]);
    BOOST_TEST(letters((*at)[1]) == letters((*at)[2]));
  }
  for (const auto& row : ops::rows())
    BOOST_TEST(names.erase(std::string(row.name)) == 1U, row.name << " has no method");
  for (const auto& name : names) BOOST_ERROR("there is no row '" << name << "'");
}

BOOST_AUTO_TEST_CASE(apply_adds_by_name) {
  GraphBuilder builder(context);
  const auto x = builder.input("x", {DataType::float32, {2, 3}});
  const std::vector<const Operand*> one{&x}, two{&x, &x};
  BOOST_TEST(builder.apply("add", two).size() == 1U);
  BOOST_TEST(builder.apply("split", one, SplitAttributes{{3}, true, 1}).size() == 3U);
  BOOST_TEST(to_string(builder.apply("elu", one).at(0).shape()) == "[2, 3]");
  const auto refused = [&](const char* name, const Attributes& attributes, const char* part) {
    try {
      builder.apply(name, one, attributes, {"here"});
      BOOST_ERROR(name << " accepted");
    } catch (const Error& error) {
      BOOST_TEST((error.kind() == ErrorKind::type_error));
      BOOST_TEST(error.message().find(part) != std::string::npos, error.message());
    }
  };
  refused("conv3d", {}, "there is no operator 'conv3d'");
  refused("cast", {}, "[here] cast: dataType is missing");
  refused("add", {}, "[here] add: ");
  refused("elu", LinearAttributes{}, "another operator's attributes");
}

BOOST_AUTO_TEST_CASE(options_reach_the_rules) {
  GraphBuilder builder(context);
  const auto x = builder.input("x", {DataType::float32, {1, 2, 6, 6}});
  const auto filter = builder.input("f", {DataType::float32, {4, 2, 3, 3}});
  Conv2dOptions conv;
  conv.strides = {2, 2};
  conv.padding = {1, 1, 1, 1};
  BOOST_TEST(to_string(builder.conv2d(x, filter, conv).shape()) == "[1, 4, 3, 3]");
  ReduceOptions reduce;
  reduce.axes = {{1, 2}};
  reduce.keep_dimensions = true;
  BOOST_TEST(to_string(builder.reduce_mean(x, reduce).shape()) == "[1, 1, 1, 6]");
  BOOST_TEST(to_string(builder.transpose(x, {.permutation = {{0, 2, 3, 1}}}).shape()) ==
             "[1, 6, 6, 2]");
  SplitOptions split;
  split.axis = 1;
  BOOST_TEST(builder.split(x, 2, split).size() == 2U);
  SliceOptions slice;
  slice.strides = {{1, 1, 2, 3}};
  BOOST_TEST(to_string(builder.slice(x, {0, 0, 0, 0}, {1, 2, 6, 6}, slice).shape()) ==
             "[1, 2, 3, 2]");
  BOOST_TEST(to_string(builder.cast(x, DataType::int64).descriptor()) == "int64 [1, 2, 6, 6]");
  const auto steps = builder.input("steps", {DataType::float32, {5, 1, 2}});
  const auto weight = [&](const char* name, std::uint32_t rows, std::uint32_t columns) {
    return builder.input(name, {DataType::float32, {2, rows, columns}});
  };
  LstmOptions lstm;
  lstm.direction = RecurrentNetworkDirection::both;
  lstm.return_sequence = true;
  const auto states = builder.lstm(steps, weight("w", 12, 2), weight("r", 12, 3), 5, 3, lstm);
  BOOST_REQUIRE_EQUAL(states.size(), 3U);
  BOOST_TEST(to_string(states[1].shape()) == "[2, 1, 3]");
  BOOST_TEST(to_string(states[2].shape()) == "[5, 2, 1, 3]");
  GruOptions gru;
  gru.direction = RecurrentNetworkDirection::both;
  BOOST_TEST(builder.gru(steps, weight("v", 9, 2), weight("s", 9, 3), 5, 3, gru).size() == 1U);
  const auto largest = builder.arg_max(
      x, 3, {.keep_dimensions = true, .output_data_type = DataType::int64, .label = ""});
  BOOST_TEST(to_string(largest.descriptor()) == "int64 [1, 2, 6, 1]");
  BOOST_TEST(to_string(builder.arg_min(x, 1).descriptor()) == "int32 [1, 6, 6]");
  BOOST_TEST(to_string(builder.tile(x, {1, 2, 1, 3}).shape()) == "[1, 4, 6, 18]");
  BOOST_TEST(to_string(builder.is_nan(x).descriptor()) == "uint8 [1, 2, 6, 6]");
}

BOOST_AUTO_TEST_SUITE_END()
