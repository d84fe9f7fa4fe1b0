// Options as a caller writes them: each by its name. An option that is not named has the default of
// the operator's attributes.
#include <boost/test/unit_test.hpp>
#include <tuple>

#include "ops/attributes.hpp"
#include "polychron/polychron.hpp"

using namespace polychron;

namespace {

/// The names of the fields in which the two differ.
template <class A>
std::string differences(const A& given, const A& expected) {
  std::string names;
  const auto compare = [&](const auto& field) {
    if (given.*field.member != expected.*field.member) names += std::string(field.name) + " ";
  };
  std::apply([&](const auto&... field) { (compare(field), ...); }, ops::fields<A>);
  return names;
}

template <class A>
void same(const A& given, const A& expected) {
  BOOST_TEST(differences(given, expected) == "");
}

constexpr auto nhwc = InputOperandLayout::nhwc;
constexpr auto backward = RecurrentNetworkDirection::backward;
using Activations = std::vector<RecurrentNetworkActivation>;
const Activations relus(3, RecurrentNetworkActivation::relu);

}  // namespace

BOOST_AUTO_TEST_SUITE(builder_options)

BOOST_AUTO_TEST_CASE(what_is_not_named_is_as_the_attributes_have_it) {
  same(BatchNormalizationOptions{}.attributes(), {});
  same(ClampOptions{}.attributes(), {});
  same(Conv2dOptions{}.attributes(), {});
  same(ConvTranspose2dOptions{}.attributes(), {});
  same(EluOptions{}.attributes(), {});
  same(GatherOptions{}.attributes(), {});
  same(GemmOptions{}.attributes(), {});
  same(GruOptions{}.attributes(0, 0), {});
  same(GruCellOptions{}.attributes(0), {});
  same(HardSigmoidOptions{}.attributes(), {});
  same(InstanceNormalizationOptions{}.attributes(), {});
  same(LayerNormalizationOptions{}.attributes(), {});
  same(LeakyReluOptions{}.attributes(), {});
  same(LinearOptions{}.attributes(), {});
  same(LstmOptions{}.attributes(0, 0), {});
  same(LstmCellOptions{}.attributes(0), {});
  same(Pool2dOptions{}.attributes(), {});
  same(ReduceOptions{}.attributes(), {});
  same(Resample2dOptions{}.attributes(), {});
  same(ReverseOptions{}.attributes(), {});
  same(ScatterOptions{}.attributes(), {});
  same(TransposeOptions{}.attributes(), {});
  same(TriangularOptions{}.attributes(), {});
}

BOOST_AUTO_TEST_CASE(each_by_its_name) {
  same(BatchNormalizationOptions{.axis = 2, .epsilon = 3, .label = "l"}.attributes(), {2, 3});
  same(ClampOptions{.min_value = -1.0, .max_value = 2.0, .label = "l"}.attributes(), {-1.0, 2.0});
  same(Conv2dOptions{.padding = {1, 2, 3, 4},
                     .strides = {5, 6},
                     .dilations = {7, 8},
                     .groups = 9,
                     .input_layout = nhwc,
                     .filter_layout = Conv2dFilterOperandLayout::ohwi,
                     .label = "l"}
           .attributes(),
       {{1, 2, 3, 4}, {5, 6}, {7, 8}, 9, nhwc, Conv2dFilterOperandLayout::ohwi});
  same(ConvTranspose2dOptions{.padding = {1, 2, 3, 4},
                              .strides = {5, 6},
                              .dilations = {7, 8},
                              .output_padding = {9, 10},
                              .output_sizes = {11, 12},
                              .groups = 13,
                              .input_layout = nhwc,
                              .filter_layout = ConvTranspose2dFilterOperandLayout::ohwi,
                              .label = "l"}
           .attributes(),
       {{1, 2, 3, 4},
        {5, 6},
        {7, 8},
        {9, 10},
        {11, 12},
        13,
        nhwc,
        ConvTranspose2dFilterOperandLayout::ohwi});
  same(EluOptions{.alpha = 2, .label = "l"}.attributes(), {2});
  same(GatherOptions{.axis = 2, .label = "l"}.attributes(), {2});
  same(GemmOptions{.alpha = 2, .beta = 3, .a_transpose = true, .label = "l"}.attributes(),
       {2, 3, true, false});
  same(GemmOptions{.b_transpose = true}.attributes(), {1, 1, false, true});
  same(GruOptions{.reset_after = false,
                  .return_sequence = true,
                  .direction = backward,
                  .layout = GruWeightLayout::rzn,
                  .activations = relus,
                  .label = "l"}
           .attributes(4, 5),
       {{{false, GruWeightLayout::rzn, relus}, true, backward}, 4, 5});
  same(
      GruCellOptions{
          .reset_after = false, .layout = GruWeightLayout::rzn, .activations = relus, .label = "l"}
          .attributes(5),
      {{false, GruWeightLayout::rzn, relus}, 5});
  same(HardSigmoidOptions{.alpha = 2, .beta = 3, .label = "l"}.attributes(), {2, 3});
  same(InstanceNormalizationOptions{.epsilon = 3, .layout = nhwc, .label = "l"}.attributes(),
       {3, nhwc});
  same(LayerNormalizationOptions{.axes = {{1}}, .epsilon = 3, .label = "l"}.attributes(),
       {{{1}}, 3});
  same(LeakyReluOptions{.alpha = 2, .label = "l"}.attributes(), {2});
  same(LinearOptions{.alpha = 2, .beta = 3, .label = "l"}.attributes(), {2, 3});
  same(LstmOptions{.return_sequence = true,
                   .direction = backward,
                   .layout = LstmWeightLayout::ifgo,
                   .activations = relus,
                   .label = "l"}
           .attributes(4, 5),
       {{{LstmWeightLayout::ifgo, relus}, true, backward}, 4, 5});
  same(LstmCellOptions{.layout = LstmWeightLayout::ifgo, .activations = relus, .label = "l"}
           .attributes(5),
       {{LstmWeightLayout::ifgo, relus}, 5});
  same(Pool2dOptions{.window_dimensions = {{1, 2}},
                     .padding = {3, 4, 5, 6},
                     .strides = {7, 8},
                     .dilations = {9, 10},
                     .layout = nhwc,
                     .output_shape_rounding = RoundingType::ceil,
                     .output_sizes = {{11, 12}},
                     .label = "l"}
           .attributes(),
       {{{1, 2}}, {3, 4, 5, 6}, {7, 8}, {9, 10}, nhwc, RoundingType::ceil, {{11, 12}}});
  same(ReduceOptions{.axes = {{1}}, .keep_dimensions = true, .label = "l"}.attributes(),
       {{{1}}, true});
  same(Resample2dOptions{.mode = InterpolationMode::linear,
                         .scales = {2, 3},
                         .sizes = {{4, 5}},
                         .axes = {0, 1},
                         .label = "l"}
           .attributes(),
       {InterpolationMode::linear, {2, 3}, {{4, 5}}, {0, 1}});
  same(ReverseOptions{.axes = {{1}}, .label = "l"}.attributes(), {{{1}}});
  same(ScatterOptions{.axis = 2, .label = "l"}.attributes(), {2});
  same(TransposeOptions{.permutation = {{1, 0}}, .label = "l"}.attributes(), {{{1, 0}}});
  same(TriangularOptions{.upper = false, .diagonal = -2, .label = "l"}.attributes(), {false, -2});
}

// In the call's place for them, with operands among them.
BOOST_AUTO_TEST_CASE(in_the_calls_braces) {
  Runtime runtime;
  auto context = runtime.create_context({.label = "here"}).get();
  GraphBuilder builder(context);
  const auto x = builder.input("x", {.data_type = DataType::float32, .shape = {1, 2, 6, 6}});
  const auto filter = builder.input("f", {DataType::float32, {4, 2, 3, 3}});
  const auto bias = builder.input("b", {DataType::float32, {4}});
  const auto shape_of = [](const Operand& operand) { return to_string(operand.shape()); };
  BOOST_TEST(shape_of(builder.conv2d(x, filter, {.strides = {2, 2}})) == "[1, 4, 2, 2]");
  BOOST_TEST(shape_of(builder.conv2d(x, filter,
                                     {.padding = {1, 1, 1, 1}, .bias = bias, .label = "same"})) ==
             "[1, 4, 6, 6]");
  BOOST_TEST(shape_of(builder.reduce_sum(x, {.axes = {{1}}})) == "[1, 6, 6]");
  const auto refused = [](const Error& error) {
    return error.message().find("[too wide]") != std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(builder.max_pool2d(x, {.window_dimensions = {{7, 7}}, .label = "too wide"}),
                        Error, refused);
  const auto tensor =
      context.create_tensor({.shape = {3}}, {.readable = true, .label = "three"}).get();
  BOOST_TEST(to_string(tensor.descriptor()) == "float32 [3]");
  BOOST_TEST((tensor.readable() && !tensor.writable()));
  BOOST_TEST(tensor.label() == "three");
}

BOOST_AUTO_TEST_SUITE_END()
