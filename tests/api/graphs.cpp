// The public suite's checks of builders and graphs through to the results (behaviour.md, section
// 4). Checks without a dispatch are in tests/ops/builder.cpp.
#include "tests/api/fixture.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(graphs)

BOOST_AUTO_TEST_CASE(constants_are_copied_when_they_are_given) {
  Embedder e;
  GraphBuilder builder(e.context);
  const OperandDescriptor two{DataType::float32, {2}};
  std::vector<float> values{3, 4};
  const auto c = builder.constant(two, values);
  values = {0, 0};
  const auto graph = builder.build({{"out", builder.add(builder.input("in", two), c)}}).get();
  values = {-1, -1};
  const auto in = e.tensor({1, 1}), out = e.tensor({0, 0});
  e.context.dispatch(graph, {{"in", in}}, {{"out", out}});
  BOOST_TEST(e.read(out) == (std::vector<float>{4, 5}));
}

BOOST_AUTO_TEST_CASE(names_may_have_any_characters) {
  Embedder e;
  GraphBuilder builder(e.context);
  const std::string input("in\0put", 6), output("\0\n\x7f", 3);
  const OperandDescriptor one{DataType::float32, {1}};
  const auto graph = builder.build({{output, builder.neg(builder.input(input, one))}}).get();
  const auto in = e.tensor({1}), out = e.tensor({0});
  e.context.dispatch(graph, {{input, in}}, {{output, out}});
  BOOST_TEST(e.read(out) == std::vector<float>{-1});
  throws(ErrorKind::type_error, [&] {  // up to the null character it is another name
    e.context.dispatch(graph, {{"in", in}}, {{output, out}});
  });
}

BOOST_AUTO_TEST_CASE(a_second_build_that_does_not_wait_for_the_first_is_refused) {
  Embedder e;
  GraphBuilder builder(e.context);
  const auto y = builder.relu(builder.input("x", {DataType::float32, {1}}));
  auto first = builder.build({{"y", y}});
  rejects(ErrorKind::invalid_state, builder.build({{"y", y}}));
  BOOST_TEST(first.take().has_value());
}

BOOST_AUTO_TEST_CASE(a_graph_destroyed_after_its_dispatch_has_run) {
  Embedder e;
  auto graph = e.times(3);
  const auto in = e.tensor({2}), out = e.tensor({0});
  e.context.dispatch(graph, {{"in", in}}, {{"out", out}});
  graph.destroy();
  graph.destroy();
  BOOST_TEST(e.read(out) == std::vector<float>{6});
  throws(ErrorKind::invalid_state, [&] {
    e.context.dispatch(graph, {{"in", in}}, {{"out", out}});
  });
}

// The classifier's end of a MobileNet in nhwc: whole-picture pooling and a mean that keeps its
// dimensions, a 1x1 convolution with its filter as ohwi, a reshape.
BOOST_AUTO_TEST_CASE(pooling_and_a_mean_that_keeps_dimensions_feed_a_convolution) {
  Embedder e;
  constexpr std::uint32_t channels = 2048, classes = 1001;
  for (const bool pooled : {true, false}) {
    GraphBuilder builder(e.context);
    const auto x = builder.input("x", {DataType::float32, {1, 7, 7, channels}});
    const auto average = pooled
                             ? builder.average_pool2d(x, {.layout = InputOperandLayout::nhwc})
                             : builder.reduce_mean(x, {.axes = {{1, 2}}, .keep_dimensions = true});
    BOOST_TEST(average.shape() == (Shape{1, 1, 1, channels}), boost::test_tools::per_element());
    const Conv2dAttributes attributes{.input_layout = InputOperandLayout::nhwc,
                                      .filter_layout = Conv2dFilterOperandLayout::ohwi};
    const auto bias =
        builder.constant({DataType::float32, {classes}}, std::vector<float>(classes, 0.5F));
    const std::vector<float> weights(std::size_t{classes} * channels, 1.0F / channels);
    const auto filter = builder.constant({DataType::float32, {classes, 1, 1, channels}}, weights);
    const auto y = builder.reshape(builder.conv2d(average, filter, attributes, bias), {1, classes});
    BOOST_TEST((y.descriptor() == OperandDescriptor{DataType::float32, {1, classes}}));
    const auto graph = builder.build({{"y", y}}).get();
    const auto in = e.tensor(DataType::float32, {1, 7, 7, channels});
    const auto out = e.tensor(DataType::float32, {1, classes});
    e.context.write_tensor(in, std::vector<float>(std::size_t{49} * channels, 2));
    e.context.dispatch(graph, {{"x", in}}, {{"y", out}});
    for (const float value : e.read(out)) BOOST_REQUIRE_CLOSE(value, 2.5F, 0.01F);
  }
}

BOOST_AUTO_TEST_CASE(support_limits_name_operands_types_and_ranks) {
  Embedder e;
  const auto& limits = e.context.op_support_limits();
  BOOST_TEST(limits.max_tensor_byte_length == 0x7fff'ffffU);
  BOOST_TEST(limits.operators.size() >= 76U);
  const auto* conv = limits.find("conv2d");
  BOOST_REQUIRE(conv != nullptr);
  BOOST_REQUIRE(conv->find("filter") != nullptr);
  BOOST_TEST(conv->find("filter")->rank_min == 4U);
  BOOST_TEST(conv->find("filter")->rank_max == 4U);
  BOOST_TEST(conv->find("nothing") == nullptr);
  BOOST_TEST(limits.find("nothing") == nullptr);
  // A type that is listed builds, one that is not is refused.
  const auto* relu = limits.find("relu");
  BOOST_REQUIRE(relu != nullptr);
  const auto& types = relu->find("input")->data_types;
  for (const DataType type : limits.input.data_types) {
    GraphBuilder builder(e.context);
    const auto x = builder.input("x", {type, {2}});
    if (std::find(types.begin(), types.end(), type) != types.end())
      BOOST_TEST((builder.relu(x).data_type() == type));
    else
      throws(ErrorKind::type_error, [&] { builder.relu(x); });
  }
}

BOOST_AUTO_TEST_CASE(a_compute_that_would_always_fail_makes_the_graph_invalid) {
  Rig rig;
  const auto graph = rig.twice();
  const auto compute = [&] {
    NamedBuffers in, out;
    in.emplace_back("in", Buffer(16));
    out.emplace_back("out", Buffer(16));
    return rig.context.compute(graph, std::move(in), std::move(out)).get().status;
  };
  rig.faults->fail(stress::FaultPoint::execute, 1,
                   {.kind = ErrorKind::operation_error, .inherent = true});
  BOOST_TEST((compute().error().kind() == ErrorKind::operation_error));
  const auto again = compute();
  BOOST_REQUIRE(!again);
  BOOST_TEST((again.error().kind() == ErrorKind::graph_invalid), again.error().what());
  const auto in = rig.tensor(), out = rig.tensor();
  rig.dispatch(graph, in, out);
  BOOST_TEST(
      (rig.context.read_tensor(out).take().error().cause()->kind() == ErrorKind::graph_invalid));
}

BOOST_AUTO_TEST_CASE(a_failure_is_told_by_every_output) {
  Rig rig;
  GraphBuilder builder(rig.context);
  const auto in = builder.input("in", Rig::floats());
  const auto graph =
      builder.build({{"sum", builder.add(in, in)}, {"product", builder.mul(in, in)}}).get();
  const auto t = rig.tensor(), sum = rig.tensor(), product = rig.tensor();
  const auto dispatch = [&](const DispatchOptions& options = {}) {
    rig.context.dispatch(graph, {{"in", t}}, {{"sum", sum}, {"product", product}}, options);
  };
  const auto all_are = [&](bool good) {
    for (const auto& output : {sum, product}) {
      BOOST_TEST(static_cast<bool>(rig.context.read_tensor(output).take()) == good);
      BOOST_TEST(output.error().get().has_value() == !good);
    }
  };
  dispatch();
  all_are(true);
  rig.faults->fail(stress::FaultPoint::execute, 1, {});
  dispatch();
  all_are(false);
  dispatch();
  all_are(true);
  DispatchOptions late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  dispatch(late);
  all_are(false);
}

BOOST_AUTO_TEST_SUITE_END()
