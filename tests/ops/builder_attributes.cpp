// Attributes, optional operands and labels as a caller writes them. An attribute that is not named
// has its default.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <tuple>
#include <variant>

#include "polychron/attribute_fields.hpp"
#include "polychron/polychron.hpp"
#include "tests/ops/world.hpp"

using namespace polychron;
using testing::World;

namespace {

struct Inputs : World {
  GraphBuilder builder{context};
  Operand x = builder.input("x", {DataType::float32, {1, 2, 6, 6}});
  Operand filter = builder.input("f", {DataType::float32, {4, 2, 3, 3}});
  Operand two = builder.input("two", {DataType::float32, {2}});
  Operand four = builder.input("four", {DataType::float32, {4}});
  Operand index = builder.input("i", {DataType::int32, {2}});
  Operand matrix = builder.input("m", {DataType::float32, {6, 6}});

  Operand weight(const char* name, const Shape& shape) {
    return builder.input(name, {DataType::float32, shape});
  }
  /// The call is refused as one of operator `name` with label `here`, for attribute `attribute`.
  template <class F>
  void refused(const std::string& name, const std::string& attribute, F&& call) {
    try {
      call();
      BOOST_ERROR(name << " accepted its " << attribute);
    } catch (const Error& error) {
      BOOST_TEST((error.kind() == ErrorKind::type_error));
      BOOST_TEST(error.message().starts_with("[here] " + name + ": "), error.message());
      BOOST_TEST(error.message().find(attribute) != std::string::npos, error.message());
    }
  }
};

std::string shape_of(const Operand& operand) { return to_string(operand.shape()); }

constexpr auto backward = RecurrentNetworkDirection::backward;
constexpr auto both = RecurrentNetworkDirection::both;
const double not_finite = std::nan("");

}  // namespace

BOOST_FIXTURE_TEST_SUITE(builder_attributes, Inputs)

// Each method hands its struct to the rules, and its label to the message.
BOOST_AUTO_TEST_CASE(of_activations_and_matrices) {
  refused("clamp", "minValue",
          [&] { builder.clamp(x, {.min_value = 2.0, .max_value = 1.0}, "here"); });
  refused("elu", "alpha", [&] { builder.elu(x, {.alpha = not_finite}, "here"); });
  refused("hardSigmoid", "beta", [&] { builder.hard_sigmoid(x, {.beta = not_finite}, "here"); });
  refused("leakyRelu", "alpha", [&] { builder.leaky_relu(x, {.alpha = not_finite}, "here"); });
  refused("linear", "beta", [&] { builder.linear(x, {.beta = not_finite}, "here"); });
  refused("softmax", "axis", [&] { builder.softmax(x, 4, "here"); });
  refused("gemm", "alpha",
          [&] { builder.gemm(matrix, matrix, {.alpha = not_finite}, matrix, "here"); });
  refused("conv2d", "groups", [&] { builder.conv2d(x, filter, {.groups = 0}, four, "here"); });
  refused("convTranspose2d", "outputPadding", [&] {
    builder.conv_transpose2d(x, filter, {.output_padding = {9, 9}}, {}, "here");
  });
  const Pool2dAttributes wide{.window_dimensions = {{7, 7}}};
  refused("averagePool2d", "window", [&] { builder.average_pool2d(x, wide, "here"); });
  refused("l2Pool2d", "window", [&] { builder.l2_pool2d(x, wide, "here"); });
  refused("maxPool2d", "window", [&] { builder.max_pool2d(x, wide, "here"); });
  refused("resample2d", "axes", [&] { builder.resample2d(x, {.axes = {3, 3}}, "here"); });
}

BOOST_AUTO_TEST_CASE(of_normalizations_and_reductions) {
  refused("batchNormalization", "epsilon", [&] {
    builder.batch_normalization(x, two, two, {.epsilon = not_finite}, {.scale = two}, "here");
  });
  refused("instanceNormalization", "epsilon",
          [&] { builder.instance_normalization(x, {.epsilon = not_finite}, {}, "here"); });
  refused("layerNormalization", "axes", [&] {
    builder.layer_normalization(x, {.axes = {{1, 1}}}, {}, "here");
  });
  using Reduce =
      Operand (GraphBuilder::*)(const Operand&, const ReduceAttributes&, GraphBuilder::Label);
  const std::pair<const char*, Reduce> reductions[] = {
      {"reduceL1", &GraphBuilder::reduce_l1},
      {"reduceL2", &GraphBuilder::reduce_l2},
      {"reduceLogSum", &GraphBuilder::reduce_log_sum},
      {"reduceLogSumExp", &GraphBuilder::reduce_log_sum_exp},
      {"reduceMax", &GraphBuilder::reduce_max},
      {"reduceMean", &GraphBuilder::reduce_mean},
      {"reduceMin", &GraphBuilder::reduce_min},
      {"reduceProduct", &GraphBuilder::reduce_product},
      {"reduceSum", &GraphBuilder::reduce_sum},
      {"reduceSumSquare", &GraphBuilder::reduce_sum_square}};
  for (const auto& reduction : reductions) {
    const auto* name = reduction.first;
    const auto method = reduction.second;  // clang 14 captures no structured bindings
    refused(name, "axes", [&] { (builder.*method)(x, {.axes = {{4}}}, "here"); });
    BOOST_TEST(shape_of((builder.*method)(x, {.axes = {{1}}, .keep_dimensions = true}, {})) ==
               "[1, 1, 6, 6]");
    BOOST_TEST(shape_of((builder.*method)(x, {.axes = {{}}}, {})) == "[1, 2, 6, 6]");
  }
  refused("argMin", "axis", [&] { builder.arg_min(x, {.axis = 4}, "here"); });
  refused("argMax", "axis", [&] { builder.arg_max(x, {.axis = 4}, "here"); });
  refused("cumulativeSum", "axis", [&] { builder.cumulative_sum(x, {.axis = 4}, "here"); });
  refused("topK", "k", [&] { builder.top_k(x, {.k = 7, .axis = 3}, "here"); });
}

BOOST_AUTO_TEST_CASE(of_movement_and_indexing) {
  refused("concat", "axis", [&] { builder.concat({x, x}, 4, "here"); });
  refused("expand", "[3]", [&] { builder.expand(two, {3}, "here"); });
  refused("gather", "axis", [&] { builder.gather(x, index, {.axis = 4}, "here"); });
  refused("gatherElements", "axis",
          [&] { builder.gather_elements(two, index, {.axis = 4}, "here"); });
  refused("scatterElements", "axis",
          [&] { builder.scatter_elements(two, index, two, {.axis = 4}, "here"); });
  refused("pad", "endingPadding",
          [&] { builder.pad(two, {.beginning_padding = {1}, .ending_padding = {}}, "here"); });
  refused("reshape", "newShape", [&] { builder.reshape(x, {5}, "here"); });
  refused("reverse", "axes", [&] { builder.reverse(x, {.axes = {{4}}}, "here"); });
  refused("slice", "strides",
          [&] { builder.slice(two, {.starts = {0}, .sizes = {2}, .strides = {{0}}}, "here"); });
  refused("split", "splits", [&] { builder.split(x, {1, 2}, 1, "here"); });
  refused("split", "splits", [&] { builder.split(x, std::vector<std::uint32_t>{2}, 2, "here"); });
  refused("split", "splits", [&] { builder.split(x, 4, 3, "here"); });
  refused("tile", "repetitions", [&] { builder.tile(two, {0}, "here"); });
  refused("transpose", "permutation",
          [&] { builder.transpose(two, {.permutation = {{1}}}, "here"); });
  refused("triangular", "rank", [&] { builder.triangular(two, {.upper = false}, "here"); });
}

// The methods without attributes take the label as their last argument.
BOOST_AUTO_TEST_CASE(labels_alone) {
  const std::string label = "here";
  refused("relu", "input", [&] { builder.relu(builder.is_nan(x), label); });
  refused("where", "condition", [&] { builder.where(x, x, x, label + ""); });
  refused("matmul", "columns", [&] { builder.matmul(matrix, filter, std::string_view(label)); });
}

// Braces with one number are a list of sizes, not a number of parts.
BOOST_AUTO_TEST_CASE(split_tells_parts_from_sizes) {
  BOOST_TEST(builder.split(x, 2, 1).size() == 2U);
  BOOST_TEST(builder.split(x, 1).size() == 1U);
  BOOST_TEST(builder.split(x, {2}, 1).size() == 1U);
  const auto parts = builder.split(x, {4, 2}, 3, "uneven");
  BOOST_REQUIRE_EQUAL(parts.size(), 2U);
  BOOST_TEST(shape_of(parts[0]) == "[1, 2, 6, 4]");
  BOOST_TEST(shape_of(parts[1]) == "[1, 2, 6, 2]");
}

BOOST_AUTO_TEST_CASE(they_reach_the_rules) {
  BOOST_TEST(shape_of(builder.conv2d(x, filter, {.strides = {2, 2}})) == "[1, 4, 2, 2]");
  BOOST_TEST(shape_of(builder.conv2d(x, filter, {.padding = {1, 1, 1, 1}}, four, "same")) ==
             "[1, 4, 6, 6]");
  BOOST_TEST(shape_of(builder.conv2d(x, filter, {}, {}, "valid")) == "[1, 4, 4, 4]");
  BOOST_TEST(shape_of(builder.gemm(weight("n", {6, 4}), matrix, {.a_transpose = true}, {}, "x")) ==
             "[4, 6]");
  BOOST_TEST(shape_of(builder.transpose(x, {.permutation = {{0, 2, 3, 1}}})) == "[1, 6, 6, 2]");
  const SliceAttributes steps{
      .starts = {0, 0, 0, 0}, .sizes = {1, 2, 6, 6}, .strides = {{1, 1, 2, 3}}};
  BOOST_TEST(shape_of(builder.slice(x, steps)) == "[1, 2, 3, 2]");
  BOOST_TEST(shape_of(builder.pad(two, {.beginning_padding = {1},
                                        .ending_padding = {2},
                                        .mode = PaddingMode::edge})) == "[5]");
  BOOST_TEST(to_string(builder.cast(x, DataType::int64).descriptor()) == "int64 [1, 2, 6, 6]");
  const auto largest =
      builder.arg_max(x, {.axis = 3, .keep_dimensions = true, .output_data_type = DataType::int64});
  BOOST_TEST(to_string(largest.descriptor()) == "int64 [1, 2, 6, 1]");
  BOOST_TEST(to_string(builder.arg_min(x, {.axis = 1}).descriptor()) == "int32 [1, 6, 6]");
  BOOST_TEST(shape_of(builder.top_k(x, {.k = 3, .axis = 3})) == "[1, 2, 6, 3]");
  BOOST_TEST(shape_of(builder.tile(x, {1, 2, 1, 3})) == "[1, 4, 6, 18]");
  BOOST_TEST(to_string(builder.is_nan(x).descriptor()) == "uint8 [1, 2, 6, 6]");
}

BOOST_AUTO_TEST_CASE(of_recurrent_networks) {
  const auto steps = weight("steps", {5, 1, 2}), start = weight("start", {1, 3});
  const auto states =
      builder.lstm(steps, weight("lw", {2, 12, 2}), weight("lr", {2, 12, 3}),
                   {.steps = 5, .hidden_size = 3, .return_sequence = true, .direction = both},
                   {.bias = weight("lb", {2, 12}), .peephole_weight = weight("lp", {2, 9})}, "l");
  BOOST_REQUIRE_EQUAL(states.size(), 3U);
  BOOST_TEST(shape_of(states[1]) == "[2, 1, 3]");
  BOOST_TEST(shape_of(states[2]) == "[5, 2, 1, 3]");
  const auto w = weight("w", {1, 9, 2}), r = weight("r", {1, 9, 3});
  BOOST_TEST(
      builder.gru(steps, w, r, {.steps = 5, .hidden_size = 3, .direction = backward}).size() == 1U);
  refused("gru", "steps", [&] { builder.gru(steps, w, r, {.hidden_size = 3}, {}, "here"); });
  refused("gru", "hiddenSize", [&] { builder.gru(steps, w, r, {.steps = 5}, {}, "here"); });
  refused("lstm", "hiddenSize", [&] { builder.lstm(steps, w, r, {.steps = 5}, {}, "here"); });
  const auto row = weight("row", {1, 2});
  const auto cw = weight("cw", {9, 2}), cr = weight("cr", {9, 3}), cb = weight("cb", {9});
  BOOST_TEST(shape_of(builder.gru_cell(row, cw, cr, start, {.hidden_size = 3},
                                       {.bias = cb, .recurrent_bias = cb}, "c")) == "[1, 3]");
  refused("gruCell", "activations", [&] {
    builder.gru_cell(row, cw, cr, start, {.hidden_size = 3, .activations = {{}}}, {}, "here");
  });
  refused("lstmCell", "hiddenSize",
          [&] { builder.lstm_cell(row, cw, cr, start, start, {}, {}, "here"); });
}

// Also of tensors and graphs.
BOOST_AUTO_TEST_CASE(other_options_in_braces) {
  const auto tensor =
      context.create_tensor({.shape = {3}}, {.readable = true, .label = "three"}).get();
  BOOST_TEST(to_string(tensor.descriptor()) == "float32 [3]");
  BOOST_TEST((tensor.readable() && !tensor.writable()));
  BOOST_TEST(tensor.label() == "three");
  const auto graph = builder.build({{"y", builder.relu(x)}}, {.label = "rectified"}).get();
  BOOST_TEST(graph.label() == "rectified");
}

BOOST_AUTO_TEST_SUITE_END()
