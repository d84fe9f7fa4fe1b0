// GraphBuilder's operators: each row has a method that makes the operator of its name, and takes
// only operands of its own builder (rule F), also as optional ones.
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
  foreign("scatterReduce", "indices", [&] { builder.scatter_reduce(own, other, own); });
  foreign("scatterReduce", "updates", [&] { builder.scatter_reduce(own, own, other); });
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
  foreign("gru", "weight", [&] { builder.gru(own, other, own, {}); });
  foreign("gru", "recurrentWeight", [&] { builder.gru(own, own, other, {}); });
  foreign("lstm", "weight", [&] { builder.lstm(own, other, own, {}); });
  foreign("lstm", "recurrentWeight", [&] { builder.lstm(own, own, other, {}); });
  foreign("gruCell", "hiddenState", [&] { builder.gru_cell(own, own, own, other, {}); });
  foreign("lstmCell", "hiddenState", [&] { builder.lstm_cell(own, own, own, other, own, {}); });
  foreign("lstmCell", "cellState", [&] { builder.lstm_cell(own, own, own, own, other, {}); });
  const auto optional = [&](const std::string& name, auto given, auto&& call, auto... members) {
    const auto one = [&](const char* operand, auto member) {
      given.*member = other;
      foreign(name, operand, [&] { call(given); });
      (given.*member).reset();
    };
    (one(members.first, members.second), ...);
  };
  optional(
      "gru", GruOperands{}, [&](const auto& given) { builder.gru(own, own, own, {}, given); },
      std::pair{"bias", &GruOperands::bias},
      std::pair{"recurrentBias", &GruOperands::recurrent_bias},
      std::pair{"initialHiddenState", &GruOperands::initial_hidden_state});
  optional(
      "gruCell", GruCellOperands{},
      [&](const auto& given) { builder.gru_cell(own, own, own, own, {}, given); },
      std::pair{"bias", &GruCellOperands::bias},
      std::pair{"recurrentBias", &GruCellOperands::recurrent_bias});
  optional(
      "lstm", LstmOperands{}, [&](const auto& given) { builder.lstm(own, own, own, {}, given); },
      std::pair{"bias", &LstmOperands::bias},
      std::pair{"recurrentBias", &LstmOperands::recurrent_bias},
      std::pair{"peepholeWeight", &LstmOperands::peephole_weight},
      std::pair{"initialHiddenState", &LstmOperands::initial_hidden_state},
      std::pair{"initialCellState", &LstmOperands::initial_cell_state});
  optional(
      "lstmCell", LstmCellOperands{},
      [&](const auto& given) { builder.lstm_cell(own, own, own, own, own, {}, given); },
      std::pair{"bias", &LstmCellOperands::bias},
      std::pair{"recurrentBias", &LstmCellOperands::recurrent_bias},
      std::pair{"peepholeWeight", &LstmCellOperands::peephole_weight});
}

BOOST_AUTO_TEST_CASE(f_optional_operands_too) {
  GraphBuilder builder(context);
  GraphBuilder stranger(context);
  const OperandDescriptor descriptor{DataType::float32, {1, 1, 2, 2}};
  const auto own = builder.input("x", descriptor);
  const auto other = stranger.input("x", descriptor);
  foreign("conv2d", "bias", [&] { builder.conv2d(own, own, {}, other); });
  foreign("convTranspose2d", "bias", [&] { builder.conv_transpose2d(own, own, {}, other); });
  foreign("gemm", "c", [&] { builder.gemm(own, own, {}, other); });
  const auto scale_and_bias = [&](const std::string& name, auto&& call) {
    foreign(name, "scale", [&] { call({.scale = other}); });
    foreign(name, "bias", [&] { call({.bias = other}); });
  };
  using Optional = const ScaleAndBias&;
  scale_and_bias("batchNormalization",
                 [&](Optional given) { builder.batch_normalization(own, own, own, {}, given); });
  scale_and_bias("instanceNormalization",
                 [&](Optional given) { builder.instance_normalization(own, {}, given); });
  scale_and_bias("layerNormalization",
                 [&](Optional given) { builder.layer_normalization(own, {}, given); });
}

// The header is the list of methods: each passes on the name of a row, which is its own, and all of
// its arguments.
BOOST_AUTO_TEST_CASE(every_row_has_a_method) {
  std::ifstream file(polychron::testing::source_directory() +
                     "/include/polychron/graph_builder.hpp");
  const std::string whole(std::istreambuf_iterator<char>(file), {});
  const auto text = std::regex_replace(whole, std::regex("//[^\n]*"), "");
  const std::regex method(
      R"re((\w+)\(((?:[^{}()]|\{\})*)\) \{\s*return (?:detail::with_errors\(\s*\[&\] \{\s*return )?)re"
      R"re([\w:(]*(?:one|apply|several)\(\s*"(\w+)"([^;]*);)re");
  const std::regex argument(R"re((\w+)(?: = [^,]*)?(?:,|$))re");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), method), end; at != end; ++at) {
    const std::string name = (*at)[1], arguments = (*at)[2], passed = (*at)[4];
    names.insert((*at)[3]);
    BOOST_TEST(letters(name) == letters((*at)[3]));
    for (std::sregex_iterator one(arguments.begin(), arguments.end(), argument); one != end; ++one)
      BOOST_TEST(std::regex_search(passed, std::regex("\\b" + (*one)[1].str() + "\\b")),
                 name << " does not pass on its " << (*one)[1]);
    BOOST_TEST(arguments.ends_with("Label label = {}"), name << " has no label");
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
      builder.apply(name, one, attributes, "here");
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

BOOST_AUTO_TEST_SUITE_END()
