// A program that ends while graphs are being built, with a runtime that is a static variable: the
// library's threads run until that variable goes. Run it several times; it must end with 0.
#include <cstdlib>
#include <string>
#include <vector>

#include "polychron/polychron.hpp"

int main(int, char** arguments) {
  using namespace polychron;
  static Runtime runtime;
  static auto context = runtime.create_context({.lanes = 2}).get();
  static std::vector<Future<Graph>> builds;
  const OperandDescriptor picture{DataType::float32, {1, 8, 32, 32}};
  const OperandDescriptor filter{DataType::float32, {8, 8, 3, 3}};
  const std::vector<float> weights(std::size_t{8} * 8 * 9, 0.5F);
  const int graphs = arguments[1] == nullptr ? 4 : std::atoi(arguments[1]);
  for (int i = 0; i < graphs; ++i) {
    GraphBuilder builder(context);
    auto x = builder.input("x", picture);
    for (int layer = 0; layer < 20; ++layer)
      x = builder.relu(
          builder.conv2d(x, builder.constant(filter, weights), {.padding = {1, 1, 1, 1}}));
    builds.push_back(builder.build({{"y", x}}));
  }
  return 0;
}
