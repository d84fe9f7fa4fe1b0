// A graph with a dynamic dimension, dispatched with two lengths: prints "32 32".
#include <cstdio>
#include <polychron/polychron.hpp>
#include <vector>
using namespace polychron;

int main() try {
  Runtime runtime;
  const std::vector<float> halves(64 * 8, 0.5F);
  const auto weights = std::as_bytes(std::span(halves));

  auto context = runtime.create_context({.features = {"dynamic-dimensions"}}).get();
  GraphBuilder builder(context);
  const auto x = builder.dynamic_input("x", {DataType::float32, {1, {"sequence", 512}, 64}});
  const auto w = builder.constant({DataType::float32, {64, 8}}, weights);
  const auto graph = builder.build({{"y", builder.matmul(x, w)}}).get();

  const auto tensor = [&](std::uint32_t length, std::uint32_t size) {
    return context.create_tensor({{DataType::float32, {1, length, size}}, true, true}).get();
  };
  const auto tensor_of_5 = tensor(5, 64), tensor_of_37 = tensor(37, 64);
  const auto result_of_5 = tensor(5, 8), result_of_37 = tensor(37, 8);
  context.write_tensor(tensor_of_5, std::vector<float>(5 * 64, 1));
  context.write_tensor(tensor_of_37, std::vector<float>(37 * 64, 1));

  context.dispatch(graph, {{"x", tensor_of_5}}, {{"y", result_of_5}});    // [1, 5, 64] -> [1, 5, 8]
  context.dispatch(graph, {{"x", tensor_of_37}}, {{"y", result_of_37}});  // the same graph

  const auto first = context.read_tensor(result_of_5).get();
  const auto second = context.read_tensor(result_of_37).get();
  std::printf("%g %g\n", first.as<float>().front(), second.as<float>().back());
} catch (const polychron::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
