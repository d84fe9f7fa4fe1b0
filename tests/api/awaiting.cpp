// Every reply, awaited in a coroutine. Calls with named arguments, without options, and with braces
// in future_of() work with every compiler. Braces in the co_await itself do not compile with g++
// 12, which would miscompile them.
#include <string>
#include <vector>

#include "tests/api/fixture.hpp"
#include "tests/task.hpp"

using namespace polychron;
using polychron::testing::Task;

namespace {

template <class D>
concept described_with_usage = requires(Context context, const D& descriptor,
                                        const TensorUsage& usage) {
  context.create_tensor(descriptor, usage);
};

template <class F>
concept awaited_in_place = requires(F&& future) {
  std::forward<F>(future).operator co_await();
};

const std::string long_label = "a label that does not fit into the small buffer of a string";
const OperandDescriptor four{DataType::float32, {4}};

Task named(Runtime& runtime, std::vector<float>& results) {
  auto context = co_await runtime.create_context();
  const ContextOptions options{.label = long_label, .lanes = 2};
  auto other = co_await runtime.create_context(options);
  TensorDescriptor descriptor;
  static_cast<OperandDescriptor&>(descriptor) = four;
  descriptor.readable = descriptor.writable = true;
  descriptor.label = long_label;
  const auto input = co_await context.create_tensor(descriptor);
  const auto output = co_await context.create_tensor(descriptor);
  const std::vector<float> values{1, 2, 3, 4};
  const auto constant =
      co_await context.create_constant_tensor(four, std::as_bytes(std::span(values)));
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const NamedOperands outputs{{"y", builder.mul(x, x)}};
  const BuildOptions build_options{.label = long_label};
  const auto graph = co_await builder.build(outputs, build_options);
  GraphBuilder second(context);
  const NamedOperands sum{{"y", second.add(second.input("x", four), second.constant(constant))}};
  const auto unnamed = co_await second.build(sum);
  context.write_tensor(input, values);
  const NamedTensors in{{"x", input}}, out{{"y", output}};
  const DispatchOptions dispatch_options{.label = long_label};
  context.dispatch(graph, in, out, dispatch_options);
  const auto bytes = co_await context.read_tensor(output);
  results.push_back(bytes.as<float>()[3]);
  NamedBuffers inputs, results_of;
  inputs.emplace_back("x", Buffer::copy_of(values));
  results_of.emplace_back("y", Buffer(16));
  auto computed = co_await context.compute(graph, std::move(inputs), std::move(results_of));
  results.push_back(computed.outputs[0].second.as<float>()[2]);
  computed = co_await context.compute(unnamed, std::move(computed.inputs),
                                      std::move(computed.outputs), dispatch_options);
  results.push_back(computed.outputs[0].second.as<float>()[3]);
  auto lease = co_await context.export_tensor(input);
  lease.return_now();
  auto read = co_await context.read_tensor(output, Buffer(16));
  results.push_back(read.buffer.as<float>()[1]);
  const auto error = co_await output.error();
  const auto pending = co_await other.pending();
  results.push_back(static_cast<float>(pending.size()) + (error ? 1.0F : 0.0F));
  context.push_error_scope(ErrorFilter::validation);
  const auto scope = co_await context.pop_error_scope();
  results.push_back(scope ? 1.0F : 0.0F);
}

/// Every call that takes options, a descriptor or a list, with these in braces.
Task in_braces(Runtime& runtime, std::vector<float>& results) {
  auto context =
      co_await future_of([&] { return runtime.create_context({.label = long_label, .lanes = 2}); });
  results.push_back(static_cast<float>(context.label().size()));
  const auto input = co_await future_of([&] {
    return context.create_tensor({{DataType::float32, {1, 1, 2, 2}}, true, true, long_label});
  });
  const auto output = co_await future_of([&] {
    return context.create_tensor({.data_type = DataType::float32, .shape = {1, 1, 1, 1}},
                                 {.readable = true, .label = "output"});
  });
  results.push_back(static_cast<float>(input.label().size() + output.label().size()));
  const std::vector<float> ones(4, 1.0F);
  const auto copied = co_await future_of([&] {
    return context.create_constant_tensor({DataType::float32, {1, 1, 2, 2}},
                                          std::as_bytes(std::span(ones)), long_label);
  });
  const auto moved = co_await future_of([&] {
    return context.create_constant_tensor({DataType::float32, {1, 1, 2, 2}}, Buffer::copy_of(ones),
                                          "moved");
  });
  GraphBuilder builder(context);
  const auto graph = co_await future_of([&] {
    const auto x = builder.input("x", {DataType::float32, {1, 1, 2, 2}});
    const auto sum = builder.add(x, builder.constant(copied), "of a label of its own");
    return builder.build(
        {{"y", builder.conv2d(sum, builder.constant(moved),
                              {.padding = {0, 0, 0, 0}, .strides = {2, 2}}, {}, long_label)}},
        {.label = long_label});
  });
  results.push_back(static_cast<float>(graph.label().size()));
  context.write_tensor(input, std::vector<float>{1, 2, 3, 4});
  context.dispatch(graph, {{"x", input}}, {{"y", output}}, {.label = long_label});
  const auto read = co_await context.read_tensor(output);
  results.push_back(read.as<float>()[0]);
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer::copy_of(ones));
  outputs.emplace_back("y", Buffer(4));
  const auto computed = co_await future_of([&] {
    return context.compute(graph, std::move(inputs), std::move(outputs),
                           {.label = long_label, .cancellation = Cancellation()});
  });
  results.push_back(computed.outputs[0].second.as<float>()[0]);
}

#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT

constexpr bool braces_compile = false;

/// The braces may also stand outside the co_await, and so may the future.
Task where_they_are(Runtime& runtime, std::vector<float>& results) {
  Future<Context> creating = runtime.create_context({.label = long_label});
  const auto context = co_await std::move(creating);
  results.push_back(static_cast<float>(context.label().size()));
}

#else

constexpr bool braces_compile = true;

Task where_they_are(Runtime& runtime, std::vector<float>& results) {
  auto context = co_await runtime.create_context({.label = long_label, .lanes = 2});
  results.push_back(static_cast<float>(context.label().size()));
  const auto input = co_await context.create_tensor({four, true, true, long_label});
  const auto output = co_await context.create_tensor({{DataType::float32, {4}}, true, true, "out"});
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const auto graph = co_await builder.build({{"y", builder.mul(x, x, "m")}}, {.label = long_label});
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer(16));
  outputs.emplace_back("y", Buffer(16));
  const auto computed =
      co_await context.compute(graph, std::move(inputs), std::move(outputs), {.label = long_label});
  context.write_tensor(input, std::vector<float>{1, 2, 3, 4});
  context.dispatch(graph, {{"x", input}}, {{"y", output}}, {.label = long_label});
  co_await context.read_tensor(output);
}

#endif

}  // namespace

BOOST_AUTO_TEST_SUITE(awaiting)

BOOST_AUTO_TEST_CASE(every_call_with_named_arguments) {
  Runtime runtime;
  std::vector<float> results;
  auto task = named(runtime, results);
  task.end.get();
  const std::vector<float> expected{16, 9, 8, 4, 0, 0};
  BOOST_TEST(results == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_call_with_braces) {
  Runtime runtime;
  std::vector<float> results;
  auto task = in_braces(runtime, results);
  task.end.get();
  const auto length = static_cast<float>(long_label.size());
  const std::vector<float> expected{length, length + 6, length, 14, 8};
  BOOST_TEST(results == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(braces_in_place) {
  Runtime runtime;
  std::vector<float> results;
  auto task = where_they_are(runtime, results);
  task.end.get();
  BOOST_TEST(results.at(0) == static_cast<float>(long_label.size()));
}

// Errors are as they are without the lambda: a rejection, or thrown at once.
BOOST_AUTO_TEST_CASE(errors_in_braces) {
  Runtime runtime;
  auto context = runtime.create_context().get();
  const auto refuse = [](Context& of) -> Task {
    co_await future_of([&] {
      return of.create_tensor({{DataType::float32, {0}}, true, true, "x"});
    });
  };
  BOOST_CHECK_EXCEPTION(refuse(context).end.get(), Error,
                        [](const Error& e) { return e.kind() == ErrorKind::type_error; });
  BOOST_CHECK_THROW(static_cast<void>(future_of(
                        []() -> Future<void> { throw std::logic_error("the lambda's"); })),
                    std::logic_error);
}

// A named lambda's captures are destroyed where the name ends.
BOOST_AUTO_TEST_CASE(a_named_lambda_may_hold_what_it_likes) {
  Runtime runtime;
  const auto create = [](Runtime& of) -> Task {
    const auto make = [&of, label = long_label] { return of.create_context({.label = label}); };
    const auto context = co_await future_of(make);
    BOOST_TEST(context.label() == long_label);
  };
  create(runtime).end.get();
}

// A descriptor with a usage, and options with a usage: one of the two would be lost.
BOOST_AUTO_TEST_CASE(a_tensor_is_described_once) {
  static_assert(described_with_usage<OperandDescriptor>);
  static_assert(!described_with_usage<TensorDescriptor>);
  Runtime runtime;
  auto context = runtime.create_context().get();
  const auto x = GraphBuilder(context).input("x", four);
  static_assert(described_with_usage<std::remove_cvref_t<decltype(x.descriptor())>>);
  BOOST_TEST(x.descriptor().shape == four.shape, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_would_become_wrong_code_does_not_compile) {
  const auto compiles = []<class F>(F&&) { return awaited_in_place<F>; };
  Runtime runtime;
  auto context = runtime.create_context().get();
  const ContextOptions options;
  const TensorDescriptor descriptor{four, true, true, ""};
  BOOST_TEST(compiles(runtime.create_context()));
  BOOST_TEST(compiles(runtime.create_context(options)));
  BOOST_TEST(compiles(context.create_tensor(descriptor)));
  BOOST_TEST(compiles(runtime.create_context({.label = "x"})) == braces_compile);
  BOOST_TEST(compiles(runtime.create_context({})) == braces_compile);
  BOOST_TEST(compiles(context.create_tensor({four, true, true, "x"})) == braces_compile);
  const TensorUsage usage{.readable = true};
  BOOST_TEST(compiles(context.create_tensor(four, usage)));
  BOOST_TEST(compiles(context.create_tensor(four, {.readable = true})) == braces_compile);
  BOOST_TEST(compiles(context.create_tensor({DataType::float32, {4}}, usage)) == braces_compile);
  BOOST_TEST(compiles(context.create_tensor({DataType::float32, {4}}, {.label = "x"})) ==
             braces_compile);
  const std::vector<float> values(4);
  const auto bytes = std::as_bytes(std::span(values));
  const Shape shape{4};
  BOOST_TEST(compiles(context.create_constant_tensor(four, bytes)));
  BOOST_TEST(compiles(context.create_constant_tensor({DataType::float32, shape}, bytes)) ==
             braces_compile);
  BOOST_TEST(compiles(context.create_constant_tensor({DataType::float32, shape}, Buffer(16))) ==
             braces_compile);
  BOOST_TEST(compiles(future_of([&] { return runtime.create_context({.label = "x"}); })));
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  BOOST_TEST(compiles(builder.build({{"y", builder.mul(x, x)}}, {.label = "x"})) == braces_compile);
}

BOOST_AUTO_TEST_SUITE_END()
