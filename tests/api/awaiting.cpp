// Every reply, awaited in a coroutine: calls with named arguments and without options work with
// every compiler; of those with braces g++ 12, which would make wrong code of them, is kept.
#include <coroutine>
#include <exception>
#include <future>
#include <string>
#include <vector>

#include "tests/api/fixture.hpp"

using namespace polychron;

namespace {

/// A coroutine that tells the end, and what it threw.
struct Task {
  struct promise_type {
    Task get_return_object() { return {ended.get_future()}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() { ended.set_value(); }
    void unhandled_exception() { ended.set_exception(std::current_exception()); }
    std::promise<void> ended;
  };
  std::future<void> end;
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

#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT

constexpr bool braces_compile = false;

/// The braces may stand outside the co_await, and so may the future.
Task futures_with_a_name(Runtime& runtime, std::vector<float>& results) {
  Future<Context> creating = runtime.create_context({.label = long_label});
  auto context = co_await std::move(creating);
  Future<Tensor> made = context.create_tensor({four, true, true, long_label});
  const auto tensor = co_await std::move(made);
  context.write_tensor(tensor, std::vector<float>{1, 2, 3, 4});
  results.push_back(static_cast<float>(context.label().size()));
}
constexpr auto in_braces = futures_with_a_name;

#else

constexpr bool braces_compile = true;

Task in_braces(Runtime& runtime, std::vector<float>& results) {
  auto context = co_await runtime.create_context({.label = long_label, .lanes = 2});
  const auto input = co_await context.create_tensor({four, true, true, long_label});
  const auto output = co_await context.create_tensor({{DataType::float32, {4}}, true, true, "out"});
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const auto graph =
      co_await builder.build({{"y", builder.mul(x, x, {.label = "m"})}}, {.label = long_label});
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer(16));
  outputs.emplace_back("y", Buffer(16));
  const auto computed =
      co_await context.compute(graph, std::move(inputs), std::move(outputs), {.label = long_label});
  context.write_tensor(input, std::vector<float>{1, 2, 3, 4});
  context.dispatch(graph, {{"x", input}}, {{"y", output}}, {.label = long_label});
  co_await context.read_tensor(output);
  results.push_back(static_cast<float>(context.label().size()));
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

BOOST_AUTO_TEST_CASE(braces) {
  Runtime runtime;
  std::vector<float> results;
  auto task = in_braces(runtime, results);
  task.end.get();
  BOOST_TEST(results.at(0) == static_cast<float>(long_label.size()));
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
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  BOOST_TEST(compiles(builder.build({{"y", builder.mul(x, x)}}, {.label = "x"})) == braces_compile);
}

BOOST_AUTO_TEST_SUITE_END()
