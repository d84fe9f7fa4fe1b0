// A small server: one graph, many requests at once, limits, deadlines, errors and a shutdown.
// docs/embedding.md and docs/getting-started.md show its parts. Prints the results of the requests.
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <polychron/polychron.hpp>

using namespace polychron;
using namespace std::chrono_literals;

namespace {

const OperandDescriptor four{DataType::float32, {4}};

Runtime make_runtime() {
  RuntimeOptions options;
  options.on_callback_exception = [](std::exception_ptr) {
    std::fprintf(stderr, "a callback has thrown\n");
  };
  return Runtime(options);
}

Context make_context(Runtime& runtime) {
  ContextOptions options;
  options.label = "server";
  options.lanes = 2;                              // requests that run side by side
  options.max_in_flight = 64;                     // then callers wait
  options.admission = AdmissionPolicy::block;     // first come, first admitted
  options.memory_limit = std::uint64_t{1} << 30;  // of tensors, plans and writes in flight
  return runtime.create_context(options).get();
}

// y = 1 / (x + x), with names for the errors.
Graph build(Context& context) {
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const auto twice = builder.add(x, x, "twice");
  const auto y = builder.reciprocal(twice, "inverse");
  return builder.build({{"y", y}}, {.label = "model"}).get();
}

// Buffers move in and come back with the same memory. Nothing is copied, and nothing is lost if a
// request fails.
void serve(Context& context, const Graph& graph, int& served) {
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer::copy_of(std::vector<float>{1, 2, 4, 8}));
  outputs.emplace_back("y", Buffer(byte_length(four).value()));
  DispatchOptions options;
  options.label = "request";
  options.deadline = std::chrono::steady_clock::now() + 10s;
  context.compute(graph, std::move(inputs), std::move(outputs), options)
      .then([&served](Result<ComputeResult> result) {
        if (!result || !result->status) return;  // status.error().what(): why, down to the operator
        if (result->outputs[0].second.as<float>()[1] == 0.25F) ++served;
      });
}

// A coroutine that nobody waits for. Its errors reject its promise.
struct Detached {
  struct promise_type {
    Detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

Detached chain(Context context, Graph graph, Promise<float> reply) try {
  const TensorDescriptor in{four, false, true, "in"};
  const auto input = co_await context.create_tensor(in);
  const auto output = co_await future_of(
      [&] { return context.create_tensor(four, {.readable = true, .label = "out"}); });
  context.write_tensor(input, std::vector<float>{1, 2, 4, 8});
  context.dispatch(graph, {{"x", input}}, {{"y", output}});
  const auto result = co_await context.read_tensor(output);
  reply.resolve(result.as<float>()[0]);
} catch (const Error& error) {
  reply.reject(error);
}

}  // namespace

int main() try {
  auto runtime = make_runtime();
  auto context = make_context(runtime);
  context.on_uncaptured_error(
      [](const Error& error) { std::fprintf(stderr, "%s\n", error.what()); });
  const auto graph = build(context);

  context.push_error_scope(ErrorFilter::internal);
  int served = 0;  // callbacks run one after the other
  for (int i = 0; i < 100; ++i) serve(context, graph, served);

  auto reply = Promise<float>::make();
  auto chained = reply.future();
  chain(context, graph, std::move(reply));
  std::printf("chained: %g\n", static_cast<double>(chained.get()));

  // A destroyed tensor is refused by name. Nothing else is affected.
  auto tensor = context.create_tensor({four, true, true, "scratch"}).get();
  tensor.destroy();
  const auto refused = context.read_tensor(tensor).take();
  if (!refused) std::printf("refused: %s\n", refused.error().what());

  // Waits for pending callbacks and for running kernels, not for queued work.
  const auto error = context.pop_error_scope().get();  // every call since the push is done
  for (const auto& actor : runtime.shutdown(10s))
    std::printf("still there: %s, %s\n", actor.actor.c_str(), actor.holds.c_str());
  std::printf("served: %d of 100, %s\n", served, error ? error->what() : "no error");
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
