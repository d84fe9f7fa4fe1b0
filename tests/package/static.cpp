// A runtime and its objects as static variables: they go after main, in any order.
#include <iostream>
#include <vector>

#include "polychron/polychron.hpp"

using namespace polychron;

namespace {
Tensor in, out;
Graph graph;
Runtime runtime;
Context context = runtime.create_context().get();
}  // namespace

int main() {
  const OperandDescriptor four{DataType::float32, {4}};
  in = context.create_tensor({four, true, true, {}}).get();
  out = context.create_tensor({four, true, true, {}}).get();
  GraphBuilder builder(context);
  graph = builder.build({{"y", builder.softmax(builder.input("x", four), 0)}}).get();
  context.write_tensor(in, std::vector<float>{1, 1, 1, 1});
  for (int i = 0; i < 100; ++i) context.dispatch(graph, {{"x", in}}, {{"y", out}});
  std::cout << context.read_tensor(out).get().to_vector<float>()[0];
}
