// GraphBuilder's operators: each method makes the operator of its name, and takes only operands of
// its own builder (rule F), also as options.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "ops/table.hpp"
#include "polychron/polychron.hpp"

using namespace polychron;

namespace {

struct World {
  Runtime runtime;
  Context context = runtime.create_context().get();
};

/// A method that takes one operand or two.
using Unary = std::function<void(GraphBuilder&, const Operand&)>;
using Binary = std::function<void(GraphBuilder&, const Operand&, const Operand&)>;

template <class Options>
Unary unary(Operand (GraphBuilder::*method)(const Operand&, const Options&)) {
  return [method](GraphBuilder& builder, const Operand& input) { (builder.*method)(input, {}); };
}
template <class Options>
Binary binary(Operand (GraphBuilder::*method)(const Operand&, const Operand&, const Options&)) {
  return [method](GraphBuilder& builder, const Operand& a, const Operand& b) {
    (builder.*method)(a, b, {});
  };
}

const std::map<std::string, Unary> unary_methods{
    {"abs", unary(&GraphBuilder::abs)},
    {"ceil", unary(&GraphBuilder::ceil)},
    {"cos", unary(&GraphBuilder::cos)},
    {"erf", unary(&GraphBuilder::erf)},
    {"exp", unary(&GraphBuilder::exp)},
    {"floor", unary(&GraphBuilder::floor)},
    {"identity", unary(&GraphBuilder::identity)},
    {"log", unary(&GraphBuilder::log)},
    {"logicalNot", unary(&GraphBuilder::logical_not)},
    {"neg", unary(&GraphBuilder::neg)},
    {"reciprocal", unary(&GraphBuilder::reciprocal)},
    {"roundEven", unary(&GraphBuilder::round_even)},
    {"sign", unary(&GraphBuilder::sign)},
    {"sin", unary(&GraphBuilder::sin)},
    {"sqrt", unary(&GraphBuilder::sqrt)},
    {"tan", unary(&GraphBuilder::tan)},
    {"clamp", unary(&GraphBuilder::clamp)},
    {"elu", unary(&GraphBuilder::elu)},
    {"gelu", unary(&GraphBuilder::gelu)},
    {"hardSigmoid", unary(&GraphBuilder::hard_sigmoid)},
    {"hardSwish", unary(&GraphBuilder::hard_swish)},
    {"leakyRelu", unary(&GraphBuilder::leaky_relu)},
    {"linear", unary(&GraphBuilder::linear)},
    {"relu", unary(&GraphBuilder::relu)},
    {"sigmoid", unary(&GraphBuilder::sigmoid)},
    {"softplus", unary(&GraphBuilder::softplus)},
    {"softsign", unary(&GraphBuilder::softsign)},
    {"tanh", unary(&GraphBuilder::tanh)},
    {"averagePool2d", unary(&GraphBuilder::average_pool2d)},
    {"maxPool2d", unary(&GraphBuilder::max_pool2d)},
    {"resample2d", unary(&GraphBuilder::resample2d)},
    {"instanceNormalization", unary(&GraphBuilder::instance_normalization)},
    {"layerNormalization", unary(&GraphBuilder::layer_normalization)},
    {"reduceL1", unary(&GraphBuilder::reduce_l1)},
    {"reduceL2", unary(&GraphBuilder::reduce_l2)},
    {"reduceLogSum", unary(&GraphBuilder::reduce_log_sum)},
    {"reduceLogSumExp", unary(&GraphBuilder::reduce_log_sum_exp)},
    {"reduceMax", unary(&GraphBuilder::reduce_max)},
    {"reduceMean", unary(&GraphBuilder::reduce_mean)},
    {"reduceMin", unary(&GraphBuilder::reduce_min)},
    {"reduceProduct", unary(&GraphBuilder::reduce_product)},
    {"reduceSum", unary(&GraphBuilder::reduce_sum)},
    {"reduceSumSquare", unary(&GraphBuilder::reduce_sum_square)},
    {"transpose", unary(&GraphBuilder::transpose)},
    {"cast", [](auto& b, const auto& x) { b.cast(x, DataType::int8); }},
    {"softmax", [](auto& b, const auto& x) { b.softmax(x, 0); }},
    {"expand", [](auto& b, const auto& x) { b.expand(x, {2}); }},
    {"pad", [](auto& b, const auto& x) { b.pad(x, {0}, {0}); }},
    {"reshape", [](auto& b, const auto& x) { b.reshape(x, {2}); }},
    {"slice", [](auto& b, const auto& x) { b.slice(x, {0}, {1}); }},
    {"split", [](auto& b, const auto& x) { b.split(x, 2); }},
};

const std::map<std::string, Binary> binary_methods{
    {"add", binary(&GraphBuilder::add)},
    {"sub", binary(&GraphBuilder::sub)},
    {"mul", binary(&GraphBuilder::mul)},
    {"div", binary(&GraphBuilder::div)},
    {"max", binary(&GraphBuilder::max)},
    {"min", binary(&GraphBuilder::min)},
    {"pow", binary(&GraphBuilder::pow)},
    {"equal", binary(&GraphBuilder::equal)},
    {"notEqual", binary(&GraphBuilder::not_equal)},
    {"greater", binary(&GraphBuilder::greater)},
    {"greaterOrEqual", binary(&GraphBuilder::greater_or_equal)},
    {"lesser", binary(&GraphBuilder::lesser)},
    {"lesserOrEqual", binary(&GraphBuilder::lesser_or_equal)},
    {"logicalAnd", binary(&GraphBuilder::logical_and)},
    {"logicalOr", binary(&GraphBuilder::logical_or)},
    {"logicalXor", binary(&GraphBuilder::logical_xor)},
    {"prelu", binary(&GraphBuilder::prelu)},
    {"conv2d", binary(&GraphBuilder::conv2d)},
    {"convTranspose2d", binary(&GraphBuilder::conv_transpose2d)},
    {"gemm", binary(&GraphBuilder::gemm)},
    {"matmul", binary(&GraphBuilder::matmul)},
    {"gather", binary(&GraphBuilder::gather)},
    {"concat",
     [](auto& b, const auto& x, const auto& y) {
       b.concat({x, y}, 0);
     }},
};

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

}  // namespace

BOOST_FIXTURE_TEST_SUITE(builder_operators, World)

BOOST_AUTO_TEST_CASE(f_operands_are_the_builders_own) {
  GraphBuilder builder(context);
  GraphBuilder stranger(context);
  const OperandDescriptor descriptor{DataType::float32, {1, 1, 2, 2}};
  const auto own = builder.input("x", descriptor);
  const auto other = stranger.input("x", descriptor);
  for (const auto& [name, call] : unary_methods)
    foreign(name, operand_name(name, 0), [&] { call(builder, other); });
  for (const auto& [name, call] : binary_methods) {
    foreign(name, operand_name(name, 0), [&] { call(builder, other, own); });
    foreign(name, operand_name(name, 1), [&] { call(builder, own, other); });
  }
  foreign("where", "condition", [&] { builder.where(other, own, own); });
  foreign("where", "trueValue", [&] { builder.where(own, other, own); });
  foreign("where", "falseValue", [&] { builder.where(own, own, other); });
  foreign("split", "input", [&] { builder.split(other, std::vector<std::uint32_t>{1, 1}); });
  foreign("batchNormalization", "input", [&] { builder.batch_normalization(other, own, own); });
  foreign("batchNormalization", "mean", [&] { builder.batch_normalization(own, other, own); });
  foreign("batchNormalization", "variance", [&] { builder.batch_normalization(own, own, other); });
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

BOOST_AUTO_TEST_CASE(every_row_has_a_method) {
  std::set<std::string_view> names{"where", "batchNormalization"};
  for (const auto& method : unary_methods) names.insert(method.first);
  for (const auto& method : binary_methods) names.insert(method.first);
  for (const auto& row : ops::rows()) BOOST_TEST(names.contains(row.name), row.name);
  BOOST_TEST(names.size() == ops::rows().size());
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
  BOOST_TEST(to_string(builder.transpose(x, {{{{0, 2, 3, 1}}}, ""}).shape()) == "[1, 6, 6, 2]");
  SplitOptions split;
  split.axis = 1;
  BOOST_TEST(builder.split(x, 2, split).size() == 2U);
  SliceOptions slice;
  slice.strides = {{1, 1, 2, 3}};
  BOOST_TEST(to_string(builder.slice(x, {0, 0, 0, 0}, {1, 2, 6, 6}, slice).shape()) ==
             "[1, 2, 3, 2]");
  BOOST_TEST(to_string(builder.cast(x, DataType::int64).descriptor()) == "int64 [1, 2, 6, 6]");
}

BOOST_AUTO_TEST_SUITE_END()
