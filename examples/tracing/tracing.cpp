// The example of docs/tracing.md: a recording of a few dispatches, with a bound on its bytes.
#include <cstdio>
#include <polychron/polychron.hpp>
#include <vector>

using namespace polychron;

namespace {

void work(Runtime& runtime) {
  auto context = runtime.create_context({.label = "traced"}).get();
  const OperandDescriptor four{DataType::float32, {4}};
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const auto graph = builder.build({{"y", builder.exp(x)}}, {.label = "exponential"}).get();
  const auto input = context.create_tensor({four, false, true, "input"}).get();
  const auto output = context.create_tensor({four, true, false, "output"}).get();
  for (int i = 0; i < 10; ++i) {
    context.write_tensor(input, std::vector<float>{1, 2, 3, 4});
    context.dispatch(graph, {{"x", input}}, {{"y", output}}, {.label = "request"});
    context.read_tensor(output).get();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::puts("expected a file for the recording"), 2;
  const char* const path = argv[1];
  Runtime runtime;
  runtime.start_trace({.max_bytes = 16 << 20, .steps = true});
  work(runtime);
  save_trace(runtime.trace(), path);  // the latest 16 MiB; any thread, at any time
  std::printf("now: polychron trace summary %s\n", path);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
