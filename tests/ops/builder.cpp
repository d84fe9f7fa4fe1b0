// GraphBuilder without its operators: inputs, constants, states, and the rules of build().
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tests/ops/world.hpp"

using namespace polychron;
using testing::World;

namespace {

/// Runs `call` and tells the error's kind and text; fails the test if there is none.
template <class F>
std::pair<ErrorKind, std::string> error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  BOOST_ERROR("accepted");
  return {ErrorKind::internal, ""};
}

template <class F>
void refused(F&& call, std::string_view part = "", ErrorKind kind = ErrorKind::type_error) {
  const auto [actual, text] = error_of(std::forward<F>(call));
  BOOST_TEST((actual == kind), text);
  BOOST_TEST(text.find(part) != std::string::npos, text << " lacks " << part);
}

const OperandDescriptor scalar{DataType::float32, {}};
const OperandDescriptor pair{DataType::float32, {2}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(builder, World)

BOOST_AUTO_TEST_CASE(inputs_have_their_descriptors) {
  GraphBuilder builder(context);
  for (const auto& descriptor : {scalar, OperandDescriptor{DataType::int64, {3}},
                                 OperandDescriptor{DataType::float32, {3, 4}},
                                 OperandDescriptor{DataType::int8, {0x7fff'ffff}}}) {
    const auto operand = builder.input(to_string(descriptor), descriptor);
    BOOST_TEST((operand.descriptor() == descriptor));
    BOOST_TEST((operand.data_type() == descriptor.data_type));
    BOOST_TEST(operand.shape() == descriptor.shape, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(control_bytes_of_a_label_are_escaped_in_the_one_line_of_an_error) {
  const auto error = Error(ErrorKind::type_error, "no such axis")
                         .with_operation("softmax", "first\nsecond\x7f")
                         .caused_by(Error(ErrorKind::bad_data, "a\tb"));
  BOOST_TEST(error.what() == R"(softmax 'first\x0asecond\x7f' failed: no such axis a\x09b)");
  BOOST_TEST(error.label() == "first\nsecond\x7f");
}

BOOST_AUTO_TEST_CASE(wrong_inputs_are_refused) {
  GraphBuilder builder(context);
  const auto shape = [](Shape dimensions) {
    return OperandDescriptor{DataType::float32, std::move(dimensions)};
  };
  refused([&] { builder.input("", pair); }, "name is empty");
  refused([&] { builder.input("a", shape({2, 0})); }, "dimension of 0");
  refused([&] { builder.input("a", shape(Shape(3, 0xffff'ffff))); }, "dimension");
  refused([&] { builder.input("a", shape({0x2000'0000})); }, "too many bytes");
  refused([&] { builder.input("a", shape({0x1'0000, 0x1'0000})); }, "too many elements");
  refused([&] { builder.input("a", shape(Shape(10, 2))); }, "rank 10");
  builder.input("a", pair);
  refused([&] { builder.input("a", pair); }, "'a'");
  builder.input(std::string("a\0b", 3), pair);  // another name, with a null character
}

BOOST_AUTO_TEST_CASE(constants_have_exactly_their_bytes) {
  GraphBuilder builder(context);
  for (const auto type : all_data_types) {
    const OperandDescriptor descriptor{type, {2, 3}};
    const std::vector<std::byte> bytes(*byte_length(descriptor));
    const auto view = std::span(bytes);
    BOOST_TEST((builder.constant(descriptor, view).descriptor() == descriptor));
    refused([&] { builder.constant(descriptor, view.first(bytes.size() - 1)); }, "expected");
    const std::vector<std::byte> more(bytes.size() + 1);
    refused([&] { builder.constant(descriptor, std::span(more)); }, "expected");
  }
  refused([&] { builder.constant({DataType::float32, {0}}, std::span<const std::byte>()); });
}

BOOST_AUTO_TEST_CASE(constant_views_have_the_type_or_are_bytes) {
  GraphBuilder builder(context);
  builder.constant(pair, std::vector<float>{1, 2});
  builder.constant(pair, std::vector<std::uint8_t>(8));
  refused([&] { builder.constant(pair, std::vector<std::int32_t>{1, 2}); }, "int32");
  refused([&] { builder.constant({DataType::float16, {2}}, std::vector<float>{1, 2}); }, "float32");
}

BOOST_AUTO_TEST_CASE(a_moved_buffer_is_detached_only_if_it_was_taken) {
  GraphBuilder builder(context);
  auto bytes = Buffer(8);
  refused([&] { builder.constant(scalar, std::move(bytes)); });
  BOOST_TEST(!bytes.detached());
  builder.constant(pair, std::move(bytes));
  BOOST_TEST(bytes.detached());
  refused([&] { builder.constant(pair, std::move(bytes)); }, "detached");
}

BOOST_AUTO_TEST_CASE(scalar_constants_of_every_type) {
  GraphBuilder builder(context);
  for (const auto type : all_data_types) {
    const auto operand = builder.constant(type, 3.0);
    BOOST_TEST((operand.descriptor() == OperandDescriptor{type, {}}));
  }
}

// Two elements a byte; what is left of the last byte does not count.
BOOST_AUTO_TEST_CASE(integers_of_4_bits_are_packed) {
  GraphBuilder builder(context);
  for (const auto type : {DataType::int4, DataType::uint4}) {
    for (const auto& [shape, size] : std::vector<std::pair<Shape, std::size_t>>{
             {{}, 1}, {{1}, 1}, {{2}, 1}, {{3}, 2}, {{3, 3}, 5}, {{0x7fff'ffff}, 0x4000'0000}})
      BOOST_TEST(*byte_length({type, shape}) == size);
    const std::vector<std::uint8_t> two(2);
    BOOST_TEST((builder.constant({type, {3}}, two).data_type() == type));
    BOOST_TEST((builder.constant({type, {4}}, two).data_type() == type));
    refused([&] { builder.constant({type, {5}}, two); }, "expected 3");
    refused([&] { builder.constant({type, {2}}, std::vector<std::int8_t>{1}); }, "uint8");
    const auto x = builder.input(std::string(to_string(type)), {type, {4}});
    refused([&] { builder.relu(x); }, "operand 'input'");
    refused([&] { builder.reshape(x, {2, 2}); }, "operand 'input'");
    refused([&] { builder.cast(x, DataType::int8); }, "operand 'input'");
    refused([&] { builder.cast(builder.constant(DataType::int8, 1.0), type); }, "would be");
  }
}

// Written, dequantized, quantized and read, and a constant on the way.
BOOST_AUTO_TEST_CASE(integers_of_4_bits_go_through_graphs) {
  GraphBuilder builder(context);
  const OperandDescriptor packed{DataType::int4, {5}}, one{DataType::int4, {1}};
  const std::vector<std::uint8_t> weights{0x78, 0x0f, 0x03}, minus_one{0x0f};  // -8 7 -1 0 3
  const auto x = builder.input("x", packed);
  const auto scale = builder.constant({DataType::float32, {1}}, std::vector<float>{0.5F});
  const auto zero = builder.constant(one, minus_one);
  const auto weight = builder.dequantize_linear(builder.constant(packed, weights), scale, zero);
  const auto sum = builder.add(builder.dequantize_linear(x, scale, zero), weight);
  const auto graph =
      builder.build({{"y", builder.quantize_linear(sum, scale, zero)}, {"w", weight}}).get();
  const auto in = context.create_tensor({packed, true, true, {}}).get();
  const auto out = context.create_tensor({packed, true, true, {}}).get();
  const auto floats = context.create_tensor({{DataType::float32, {5}}, true, true, {}}).get();
  BOOST_TEST(in.byte_length() == 3U);
  context.write_tensor(in, std::vector<std::uint8_t>{0x21, 0x43, 0x05});  // 1 2 3 4 5
  context.dispatch(graph, {{"x", in}}, {{"y", out}, {"w", floats}});
  const auto values = context.read_tensor(floats).get();
  const std::vector<float> expected{-3.5F, 4, 0, 0.5F, 2};
  BOOST_TEST(values.as<float>() == expected, boost::test_tools::per_element());
  // The steps from the zero point add up, and are bounded: -6 10 3 5 9.
  const auto bytes = context.read_tensor(out).get();
  const std::vector<std::uint8_t> sums{0x7a, 0x53, 0x07};
  BOOST_TEST(bytes.as<std::uint8_t>() == sums, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_strict_context_has_the_specifications_types_only) {
  auto strict = runtime.create_context({.strict = true}).get();
  for (const auto type : {DataType::int4, DataType::uint4}) {
    const OperandDescriptor descriptor{type, {2}};
    const std::vector<std::uint8_t> byte(1);
    const auto all = [&](Context& in, auto&& expect) {
      GraphBuilder builder(in);
      expect([&] { builder.input("x", descriptor); });
      expect([&] { builder.constant(descriptor, byte); });
      expect([&] { builder.constant(type, 1.0); });
      expect([&] { in.create_tensor({descriptor, true, true, {}}).get(); });
      expect([&] { in.create_constant_tensor(descriptor, std::as_bytes(std::span(byte))).get(); });
    };
    all(strict, [](auto&& call) { refused(call, "strict"); });
    all(context, [](auto&& call) { BOOST_CHECK_NO_THROW(call()); });
    const auto has = [&](const TensorLimits& limits) {
      return std::ranges::find(limits.data_types, type) != limits.data_types.end();
    };
    for (const bool is_strict : {true, false}) {
      const auto& limits = (is_strict ? strict : context).op_support_limits();
      BOOST_TEST((has(limits.input) != is_strict));
      BOOST_TEST((has(limits.constant) != is_strict));
      BOOST_TEST((has(limits.output) != is_strict));
      BOOST_TEST((has(*limits.find("dequantizeLinear")->find("input")) != is_strict));
      BOOST_TEST((has(*limits.find("quantizeLinear")->find("output")) != is_strict));
      BOOST_TEST(!has(*limits.find("add")->find("a")));
      BOOST_TEST(!has(*limits.find("cast")->find("output")));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_strict_context_has_the_specifications_operators_only) {
  auto strict = runtime.create_context({.strict = true}).get();
  for (const bool is_strict : {true, false}) {
    GraphBuilder builder(is_strict ? strict : context);
    const auto x = builder.input("x", pair);
    const auto zero = builder.constant(DataType::int32, std::int64_t{0});
    const auto at = builder.expand(zero, {2, 1});
    const std::vector<std::function<void()>> calls{[&] { builder.top_k(x, {.k = 1, .axis = 0}); },
                                                   [&] { builder.scatter_reduce(x, at, x); }};
    for (const auto& call : calls)
      if (is_strict)
        refused(call, "the context is strict");
      else
        BOOST_CHECK_NO_THROW(call());
    for (const char* name : {"topK", "scatterReduce"})
      BOOST_TEST((builder.context().op_support_limits().find(name) == nullptr) == is_strict);
  }
}

BOOST_AUTO_TEST_CASE(constant_tensors_of_the_same_context_only) {
  GraphBuilder builder(context);
  const std::vector<std::byte> bytes(8);
  auto tensor = context.create_constant_tensor(pair, bytes).get();
  BOOST_TEST((builder.constant(tensor).descriptor() == pair));
  TensorDescriptor plain;
  plain.data_type = pair.data_type;
  plain.shape = pair.shape;
  const auto variable = context.create_tensor(plain).get();
  refused([&] { builder.constant(variable); });
  auto other = runtime.create_context().get();
  const auto foreign = other.create_constant_tensor(pair, bytes).get();
  refused([&] { builder.constant(foreign); });
}

BOOST_AUTO_TEST_CASE(a_second_build_and_all_calls_after_it_are_refused) {
  GraphBuilder builder(context);
  const auto a = builder.input("a", pair);
  const auto sum = builder.add(a, a);
  builder.build({{"sum", sum}}).get();
  const auto state = ErrorKind::invalid_state;
  refused([&] { builder.build({{"sum", sum}}).get(); }, "built", state);
  refused([&] { builder.add(a, a); }, "built", state);
  refused([&] { builder.input("b", pair); }, "built", state);
  refused([&] { builder.constant(DataType::float32, 1.0); }, "built", state);
  BOOST_TEST((sum.descriptor() == pair));  // operands can still be asked
}

BOOST_AUTO_TEST_CASE(a_refused_build_leaves_the_builder_usable) {
  GraphBuilder builder(context);
  GraphBuilder stranger(context);
  const auto a = builder.input("a", pair);
  const auto constant = builder.constant(DataType::float32, 1.0);
  const auto sum = builder.add(a, constant);
  const auto foreign = stranger.relu(stranger.input("a", pair));
  refused([&] { builder.build({}).get(); }, "no outputs");
  refused([&] { builder.build({{"", sum}}).get(); }, "empty");
  refused([&] { builder.build({{"x", a}}).get(); }, "'x'");
  refused([&] { builder.build({{"x", constant}}).get(); }, "'x'");
  refused([&] { builder.build({{"x", foreign}}).get(); }, "'x'");
  refused([&] { builder.build({{"x", sum}, {"x", sum}}).get(); }, "twice");
  const auto graph = builder.build({{"sum", sum}}, {"label"}).get();
  BOOST_TEST(graph.label() == "label");
}

BOOST_AUTO_TEST_CASE(a_refused_operator_adds_nothing) {
  GraphBuilder builder(context);
  const auto a = builder.input("a", pair);
  const auto b = builder.input("b", {DataType::float32, {3}});
  refused([&] { builder.add(a, b, "sum*?"); }, "[sum*?] add: operand 'b'");
  const auto graph = builder.build({{"out", builder.relu(a)}}).get();
  BOOST_TEST(graph.plan().size() == 1U);
}

BOOST_AUTO_TEST_CASE(graphs_have_the_inputs_that_their_outputs_need) {
  GraphBuilder builder(context);
  const auto unused = builder.input("unused", pair);
  const auto b = builder.input("b", pair);
  const auto a = builder.input("a", pair);
  builder.mul(unused, a);  // needed by no output
  const auto halves = builder.split(builder.add(a, b), 2);
  const auto graph = builder.build({{"second", halves[1]}, {"sum", builder.relu(a)}}).get();
  BOOST_REQUIRE_EQUAL(graph.inputs().size(), 2U);
  BOOST_TEST(graph.inputs()[0].first == "b");
  BOOST_TEST(graph.inputs()[1].first == "a");
  BOOST_REQUIRE_EQUAL(graph.outputs().size(), 2U);
  BOOST_TEST(graph.outputs()[0].first == "second");
  BOOST_TEST((graph.outputs()[0].second == OperandDescriptor{DataType::float32, {1}}));
}

BOOST_AUTO_TEST_CASE(two_builders_of_a_context_are_independent) {
  GraphBuilder first(context);
  GraphBuilder second(context);
  const auto a = first.relu(first.input("a", pair));
  const auto b = second.relu(second.input("a", scalar));
  BOOST_TEST((first.build({{"out", a}}).get().outputs()[0].second == pair));
  BOOST_TEST((second.build({{"out", b}}).get().outputs()[0].second == scalar));
}

BOOST_AUTO_TEST_CASE(destroyed_builders_refuse_calls) {
  GraphBuilder builder(context);
  const auto a = builder.input("a", pair);
  const auto b = builder.relu(a);
  builder.destroy();
  builder.destroy();
  const auto state = ErrorKind::invalid_state;
  refused([&] { builder.input("b", pair); }, "destroyed", state);
  refused([&] { builder.relu(a); }, "destroyed", state);
  refused([&] { builder.build({{"b", b}}).get(); }, "destroyed", state);
  BOOST_TEST((b.descriptor() == pair));
}

BOOST_AUTO_TEST_CASE(a_destroyed_contexts_builders_refuse_calls) {
  GraphBuilder builder(context);
  const auto a = builder.input("a", pair);
  const auto b = builder.relu(a);
  context.destroy();
  const auto state = ErrorKind::invalid_state;
  refused([&] { GraphBuilder{context}; }, "", state);
  refused([&] { builder.input("b", pair); }, "", state);
  refused([&] { builder.relu(a); }, "", state);
  refused([&] { builder.build({{"b", b}}).get(); }, "", state);
}

BOOST_AUTO_TEST_CASE(moved_away_builders_and_operands_refuse_calls) {
  GraphBuilder builder(context);
  auto a = builder.input("a", pair);
  const auto taken = std::move(a);
  refused([&] { builder.relu(a); }, "operand 'input'");
  refused([&] { a.shape(); }, "moved");
  GraphBuilder other = std::move(builder);
  refused([&] { builder.relu(taken); }, "moved", ErrorKind::invalid_state);
  refused([&] { builder.build({}).get(); }, "moved", ErrorKind::invalid_state);
  BOOST_TEST((other.relu(taken).descriptor() == pair));
}

BOOST_AUTO_TEST_CASE(descriptors_stay_in_place_while_the_builder_grows) {
  GraphBuilder builder(context);
  const auto a = builder.input("a", pair);
  const Shape& shape = a.shape();
  auto last = a;
  for (int i = 0; i < 1000; ++i) last = builder.relu(last);
  BOOST_TEST(shape == pair.shape, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
