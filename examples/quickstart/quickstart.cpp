// A context, a graph, two tensors, a dispatch and a read: prints "3 6 9 12".
#include <cstdio>
#include <polychron/polychron.hpp>
using namespace polychron;

int main() try {
  Runtime runtime;
  auto context = runtime.create_context({.label = "quickstart"}).get();

  const OperandDescriptor four{DataType::float32, {4}};
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const auto y = builder.mul(x, builder.constant(four.data_type, 3.0), "triple");
  const auto graph = builder.build({{"y", y}}, {.label = "times three"}).get();

  const auto input = context.create_tensor({four, false, true, "input"}).get();
  const auto output = context.create_tensor({four, true, false, "output"}).get();
  context.write_tensor(input, std::vector<float>{1, 2, 3, 4});
  context.dispatch(graph, {{"x", input}}, {{"y", output}});
  const auto result = context.read_tensor(output).get();  // after all of the above
  for (const float value : result.as<float>()) std::printf("%g ", value);
} catch (const polychron::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // the whole chain, down to the operator
  return 1;
}
