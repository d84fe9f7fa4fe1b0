// The public suite's checks of dispatch (behaviour.md, section 3: tensor, parallel-dispatch,
// inputs-are-not-modified, scalars, graphs without inputs).
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {
/// output1 = output2 = lhs + rhs, on float32 [3, 5].
struct Adder : Embedder {
  explicit Adder(const ContextOptions& options = {}) : Embedder(options) {
    GraphBuilder builder(context);
    const auto lhs = builder.input("lhs", shape), rhs = builder.input("rhs", shape);
    graph = builder.build({{"output1", builder.add(lhs, rhs)}, {"output2", builder.add(lhs, rhs)}})
                .get();
    for (auto* t : {&lhs_, &rhs_, &out1, &out2}) *t = make();
    fill(lhs_, 1);
    fill(rhs_, 1);
  }
  Tensor make(Shape dimensions = {3, 5}, DataType type = DataType::float32) {
    return tensor(type, std::move(dimensions));
  }
  void fill(const Tensor& t, float value) {
    context.write_tensor(t, std::vector<float>(15, value));
  }
  void run(const Tensor& l, const Tensor& r, const Tensor& a, const Tensor& b) {
    context.dispatch(graph, {{"lhs", l}, {"rhs", r}}, {{"output1", a}, {"output2", b}});
  }
  void expect(const Tensor& t, float value) {
    BOOST_TEST(read(t) == std::vector<float>(15, value));
  }
  const OperandDescriptor shape{DataType::float32, {3, 5}};
  Graph graph;
  Tensor lhs_, rhs_, out1, out2;
};
}  // namespace

BOOST_AUTO_TEST_SUITE(dispatches)

BOOST_AUTO_TEST_CASE(wrong_arguments_are_type_errors) {
  Adder a;
  const auto refused = [&](const NamedTensors& in, const NamedTensors& out) {
    throws(ErrorKind::type_error, [&] { a.context.dispatch(a.graph, in, out); });
  };
  const NamedTensors in{{"lhs", a.lhs_}, {"rhs", a.rhs_}};
  const NamedTensors out{{"output1", a.out1}, {"output2", a.out2}};
  refused({}, {});
  refused({{"lhs", a.lhs_}, {"wrong", a.rhs_}}, out);
  refused(in, {{"output1", a.out1}, {"wrong", a.out2}});
  refused({{"lhs", a.lhs_}}, out);
  refused({{"lhs", a.lhs_}, {"rhs", a.rhs_}, {"more", a.make()}}, out);
  refused(in, {{"output1", a.out1}});
  refused(in, {{"output1", a.out1}, {"output2", a.out2}, {"more", a.make()}});
  refused({{"lhs", a.make({3, 5, 1})}, {"rhs", a.rhs_}}, out);
  refused({{"lhs", a.make({15})}, {"rhs", a.rhs_}}, out);
  refused({{"lhs", a.make({3, 5}, DataType::int32)}, {"rhs", a.rhs_}}, out);
  refused(in, {{"output1", a.make({3, 6})}, {"output2", a.out2}});
  refused(in, {{"output1", a.make({3, 5}, DataType::int32)}, {"output2", a.out2}});
  refused(in, {{"output1", a.out1}, {"output2", a.out1}});
  refused(in, {{"output1", a.lhs_}, {"output2", a.out2}});
  refused({{"lhs", Tensor()}, {"rhs", a.rhs_}}, out);
  auto other = a.runtime.create_context().get();
  const auto theirs = other.create_tensor({{DataType::float32, {3, 5}}, true, true, {}}).get();
  refused({{"lhs", theirs}, {"rhs", a.rhs_}}, out);
  refused(in, {{"output1", theirs}, {"output2", a.out2}});
  throws(ErrorKind::type_error, [&] { other.dispatch(a.graph, in, out); });
}

BOOST_AUTO_TEST_CASE(a_tensor_given_twice_is_told_by_its_names) {
  Adder a;
  const auto sum = a.tensor(DataType::float32, {3, 5}, "sum");
  const auto says = [](const std::string& words, auto call) {
    try {
      call();
      BOOST_ERROR("nothing was thrown, where '" << words << "' was expected");
    } catch (const Error& error) {
      BOOST_TEST(std::string(error.what()).find(words) != std::string::npos, error.what());
    }
  };
  says("tensor 'sum' is given twice, as input 'rhs' and output 'output1'",
       [&] { a.run(a.lhs_, sum, sum, a.out2); });
  says("tensor 'sum' is given twice, as output 'output1' and output 'output2'",
       [&] { a.run(a.lhs_, a.rhs_, sum, sum); });
}

BOOST_AUTO_TEST_CASE(one_tensor_may_be_several_inputs) {
  Adder a;
  a.fill(a.lhs_, 3);
  a.run(a.lhs_, a.lhs_, a.out1, a.out2);
  a.expect(a.out1, 6);
  const auto sum = a.make();
  throws(ErrorKind::type_error, [&] { a.run(sum, sum, sum, a.out2); });
}

BOOST_AUTO_TEST_CASE(a_strict_context_takes_a_tensor_once) {
  Adder a({.strict = true});
  throws(ErrorKind::type_error, [&] { a.run(a.lhs_, a.lhs_, a.out1, a.out2); });
}

BOOST_AUTO_TEST_CASE(the_same_inputs_to_two_sets_of_outputs) {
  Adder a;
  const auto more1 = a.make(), more2 = a.make();
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.run(a.lhs_, a.rhs_, more1, more2);
  for (const auto& t : {a.out1, a.out2, more1, more2}) a.expect(t, 2);
}

BOOST_AUTO_TEST_CASE(two_sets_of_inputs_to_the_same_outputs_leave_the_laters) {
  Adder a;
  const auto l = a.make(), r = a.make();
  a.fill(l, 2);
  a.fill(r, 2);
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.run(l, r, a.out1, a.out2);
  a.expect(a.out1, 4);
  a.expect(a.out2, 4);
}

BOOST_AUTO_TEST_CASE(the_same_inputs_and_outputs_twice) {
  Adder a;
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.expect(a.out1, 2);
  a.expect(a.out2, 2);
}

BOOST_AUTO_TEST_CASE(names_bind_anew_each_time) {
  Adder a;
  GraphBuilder builder(a.context);
  const auto lhs = builder.input("lhs", a.shape), rhs = builder.input("rhs", a.shape);
  const auto difference = builder.build({{"out", builder.sub(lhs, rhs)}}).get();
  a.fill(a.lhs_, 5);
  a.fill(a.rhs_, 3);
  a.context.dispatch(difference, {{"lhs", a.lhs_}, {"rhs", a.rhs_}}, {{"out", a.out1}});
  a.context.dispatch(difference, {{"rhs", a.lhs_}, {"lhs", a.rhs_}}, {{"out", a.out2}});
  a.expect(a.out1, 2);
  a.expect(a.out2, -2);
}

BOOST_AUTO_TEST_CASE(outputs_become_inputs_ping_pong) {
  Adder a;
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.run(a.out1, a.out2, a.lhs_, a.rhs_);
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.expect(a.out1, 8);
  a.expect(a.lhs_, 4);
}

BOOST_AUTO_TEST_CASE(a_tensor_of_an_earlier_dispatch_stays_as_it_was) {
  Adder a;
  const auto another = a.make();
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.fill(a.lhs_, 5);
  a.run(a.lhs_, a.rhs_, a.out1, another);
  a.expect(a.out2, 2);
  a.expect(another, 6);
}

BOOST_AUTO_TEST_CASE(an_input_destroyed_after_its_dispatch_can_be_replaced) {
  Adder a;
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.lhs_.destroy();
  const auto fresh = a.make();
  a.fill(fresh, 10);
  a.expect(a.out1, 2);
  a.run(fresh, a.rhs_, a.out1, a.out2);
  a.expect(a.out2, 11);
  a.out1.destroy();
  const auto out = a.make();
  a.run(fresh, a.rhs_, out, a.out2);
  a.expect(out, 11);
}

BOOST_AUTO_TEST_CASE(inputs_are_not_modified) {
  Adder a;
  a.run(a.lhs_, a.rhs_, a.out1, a.out2);
  a.expect(a.lhs_, 1);
  a.expect(a.rhs_, 1);
  GraphBuilder builder(a.context);
  const auto in = builder.input("in", a.shape);
  const auto graph = builder.build({{"out", builder.identity(builder.hard_swish(in))}}).get();
  a.fill(a.lhs_, -1);
  a.context.dispatch(graph, {{"in", a.lhs_}}, {{"out", a.out1}});
  a.expect(a.lhs_, -1);
  GraphBuilder again(a.context);
  const auto two = again.constant(DataType::float32, 2.0);
  const auto x = again.input("in", a.shape);
  const auto affine = again.build({{"out", again.add(again.mul(x, two), two)}}).get();
  a.context.dispatch(affine, {{"in", a.lhs_}}, {{"out", a.out1}});
  a.expect(a.out1, 0);
  a.expect(a.lhs_, -1);
}

BOOST_AUTO_TEST_CASE(reads_between_dispatches_see_the_one_before) {
  Embedder e;
  const auto two = e.times(2), ten = e.times(10);
  const auto in = e.tensor({1}), out = e.tensor({0});
  e.context.dispatch(two, {{"in", in}}, {{"out", out}});
  auto first = e.context.read_tensor(out);
  e.context.dispatch(ten, {{"in", in}}, {{"out", out}});
  auto second = e.context.read_tensor(out);
  BOOST_TEST(Embedder::floats(first.get()) == std::vector<float>{2});
  BOOST_TEST(Embedder::floats(second.get()) == std::vector<float>{10});
}

BOOST_AUTO_TEST_CASE(chains_of_dispatches_that_nobody_waits_for) {
  Embedder e;
  const auto two = e.times(2), three = e.times(3);
  std::vector<Tensor> chain{e.tensor({1})};
  std::vector<Future<Buffer>> reads;
  for (int i = 0; i < 4; ++i) {
    chain.push_back(e.tensor({0}));
    e.context.dispatch(i % 2 == 0 ? three : two, {{"in", chain[chain.size() - 2]}},
                       {{"out", chain.back()}});
    reads.push_back(e.context.read_tensor(chain.back()));
  }
  const std::vector<float> expected{3, 6, 18, 36};
  for (std::size_t i = 0; i < 4; ++i)
    BOOST_TEST(Embedder::floats(reads[i].get()) == std::vector<float>{expected[i]});
}

BOOST_AUTO_TEST_CASE(two_graphs_ping_pong_between_two_tensors) {
  Embedder e;
  const auto two = e.times(2), three = e.times(3);
  const auto a = e.tensor({1}), b = e.tensor({0});
  for (int i = 0; i < 3; ++i) {
    e.context.dispatch(two, {{"in", a}}, {{"out", b}});
    e.context.dispatch(three, {{"in", b}}, {{"out", a}});
  }
  BOOST_TEST(e.read(a) == std::vector<float>{216});
  BOOST_TEST(e.read(b) == std::vector<float>{72});
}

BOOST_AUTO_TEST_CASE(four_sequences_on_one_graph_at_once) {
  for (const int lanes : {1, 2, 4}) {
    ContextOptions options;
    options.lanes = lanes;
    Embedder e(options);
    const auto three = e.times(3);
    std::vector<Future<Buffer>> reads;
    std::vector<Tensor> keep;
    for (float x = 1; x <= 4; ++x) {
      keep.push_back(e.tensor({x}));
      keep.push_back(e.tensor({0}));
      e.context.dispatch(three, {{"in", keep[keep.size() - 2]}}, {{"out", keep.back()}});
      reads.push_back(e.context.read_tensor(keep.back()));
    }
    for (std::size_t i = 0; i < 4; ++i)
      BOOST_TEST(Embedder::floats(reads[i].get())[0] == 3.0F * static_cast<float>(i + 1));
  }
}

BOOST_AUTO_TEST_CASE(all_writes_then_all_dispatches_then_all_reads) {
  Embedder e;
  const auto two = e.times(2);
  std::vector<Tensor> chain;
  for (int i = 0; i < 5; ++i) chain.push_back(e.tensor({static_cast<float>(-i)}));
  e.context.write_tensor(chain[0], std::vector<float>{1});
  for (std::size_t i = 0; i + 1 < chain.size(); ++i)
    e.context.dispatch(two, {{"in", chain[i]}}, {{"out", chain[i + 1]}});
  std::vector<Future<Buffer>> reads;
  for (const auto& t : chain) reads.push_back(e.context.read_tensor(t));
  float expected = 1;
  for (auto& read : reads) {
    BOOST_TEST(Embedder::floats(read.get()) == std::vector<float>{expected});
    expected *= 2;
  }
}

BOOST_AUTO_TEST_CASE(scalars_broadcast) {
  Embedder e;
  for (const DataType type : {DataType::float32, DataType::int32}) {
    GraphBuilder builder(e.context);
    const OperandDescriptor scalar{type, {}}, four{type, {4}};
    const auto s = builder.input("s", scalar);
    std::vector<std::uint8_t> bytes(16);
    const std::array<std::int32_t, 4> integers{1, 2, 3, 4};
    const std::array<float, 4> floats{1, 2, 3, 4};
    if (type == DataType::int32)
      std::memcpy(bytes.data(), integers.data(), 16);
    else
      std::memcpy(bytes.data(), floats.data(), 16);
    const auto c = builder.constant(four, bytes);
    const auto graph =
        builder.build({{"wide", builder.add(s, c)}, {"narrow", builder.add(s, s)}}).get();
    const auto in = e.tensor(type, {}), wide = e.tensor(type, {4}), narrow = e.tensor(type, {});
    const std::int32_t seven = 7;
    const float seven_f = 7;
    e.context.write_tensor(in, type == DataType::int32 ? std::as_bytes(std::span(&seven, 1))
                                                       : std::as_bytes(std::span(&seven_f, 1)));
    e.context.dispatch(graph, {{"s", in}}, {{"wide", wide}, {"narrow", narrow}});
    const auto w = e.context.read_tensor(wide).get(), n = e.context.read_tensor(narrow).get();
    if (type == DataType::int32) {
      BOOST_TEST(w.as<std::int32_t>()[3] == 11);
      BOOST_TEST(n.as<std::int32_t>()[0] == 14);
    } else {
      BOOST_TEST(w.as<float>()[3] == 11.0F);
      BOOST_TEST(n.as<float>()[0] == 14.0F);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_graph_without_inputs_and_scalars) {
  Embedder e;
  GraphBuilder builder(e.context);
  const OperandDescriptor scalar{DataType::float32, {}};
  const auto c = builder.constant(DataType::float32, 4.0);
  const auto graph = builder.build({{"out", builder.identity(builder.add(c, c))}}).get();
  const auto out = e.tensor(DataType::float32, {});
  e.context.dispatch(graph, {}, {{"out", out}});
  BOOST_TEST(e.read(out) == std::vector<float>{8});
}

// A convolution has two ways to compute, and values say which: one leaves nothing for the other.
BOOST_AUTO_TEST_CASE(other_tensors_with_other_kinds_of_values) {
  constexpr std::uint32_t channels = 32, size = 12;
  const OperandDescriptor picture{DataType::float32, {1, channels, size, size}};
  const auto values_of = [&](float first) {
    std::vector<float> values(std::size_t{channels} * size * size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) - 6;
    values.front() = first;
    return values;
  };
  Embedder e;
  GraphBuilder builder(e.context);
  const auto filter = builder.constant({DataType::float32, {channels, channels, 3, 3}},
                                       std::vector<float>(channels * channels * 9, 0.25F));
  const Conv2dAttributes same{.padding = {1, 1, 1, 1}};
  const auto graph =
      builder.build({{"y", builder.conv2d(builder.input("x", picture), filter, same)}}).get();
  const auto run = [&](float first) {
    const auto x = e.tensor(picture.data_type, picture.shape),
               y = e.tensor(picture.data_type, picture.shape);
    e.context.write_tensor(x, values_of(first));
    e.context.dispatch(graph, {{"x", x}}, {{"y", y}});
    return e.read(y);
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto ordinary = run(1);
  for (int round = 0; round < 3; ++round) {
    const auto with_infinity = run(infinity), again = run(1);
    BOOST_TEST(again == ordinary, boost::test_tools::per_element());
    for (std::size_t i = 0; i < ordinary.size(); ++i) {
      const auto y = i / size % size, x = i % size;
      if (y < 2 && x < 2)
        BOOST_TEST(with_infinity[i] == infinity);
      else
        BOOST_TEST(std::abs(with_infinity[i] - ordinary[i]) < 1e-3F);
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_name_the_call_that_they_are_of) {
  Adder a;
  NamedBuffers in, out;
  in.emplace_back("lhs", Buffer(60));
  in.emplace_back("rhs", Buffer(4));
  for (const auto* name : {"output1", "output2"}) out.emplace_back(name, Buffer(60));
  try {
    static_cast<void>(
        a.context.compute(a.graph, std::move(in), std::move(out), {.label = "run 1"}));
    BOOST_ERROR("expected a type_error");
  } catch (const Error& error) {
    BOOST_TEST(error.operation() == "compute");
    BOOST_TEST(error.message() == "input 'rhs': expected 60 bytes (float32 [3, 5]), got 4");
  }
}

BOOST_AUTO_TEST_CASE(outputs_are_found_by_name) {
  NamedBuffers buffers;
  buffers.emplace_back("x", Buffer(4));
  buffers.emplace_back("y", Buffer(8));
  BOOST_TEST(buffer_of(buffers, "y").size() == 8U);
  const Buffer taken = std::move(buffer_of(buffers, "x"));
  BOOST_TEST(taken.size() == 4U);
  BOOST_TEST(buffer_of(buffers, "x").detached());
  try {
    static_cast<void>(buffer_of(std::as_const(buffers), "z"));
    BOOST_ERROR("expected a type_error");
  } catch (const Error& error) {
    BOOST_TEST(error.message() == "there is no buffer 'z'; there are 'x', 'y'");
  }
}

BOOST_AUTO_TEST_SUITE_END()
