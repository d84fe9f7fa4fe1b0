// Ends while graphs are built. Usage: ends_early HOW YIELDS. HOW: "static" (the runtime is a static
// variable), "leaked" (nobody ends it), "callback" (a callback calls exit()). It begins builds, and
// yields so often before it ends.
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "polychron/polychron.hpp"

using namespace polychron;

namespace {

Runtime& runtime_of(bool leaked) {
  static Runtime* const stays = leaked ? new Runtime : nullptr;
  if (leaked) return *stays;
  static Runtime runtime;
  return runtime;
}

/// Of several kinds, so that each makes static variables of oneDNN's that the last did not.
Future<Graph> begin_build(const Context& context, int kind) {
  GraphBuilder builder(context);
  const OperandDescriptor image{DataType::float32, {1, 16, 24, 24}};
  auto y = builder.input("x", image);
  for (int i = 0; i < 4; ++i) {
    const auto filter =
        builder.constant({DataType::float32, {16, 16, 3, 3}}, Buffer(16 * 16 * 3 * 3 * 4));
    if (kind == 0) y = builder.relu(builder.conv2d(y, filter, {.padding = {1, 1, 1, 1}}));
    if (kind == 1) y = builder.tanh(builder.matmul(y, y));
    if (kind == 2) y = builder.softmax(y, 1);
    if (kind == 3) y = builder.instance_normalization(y);
  }
  return builder.build({{"y", y}});
}

}  // namespace

/// What threads hold that the end stops in the middle is no leak.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view how = argv[1];
  auto& runtime = runtime_of(how == "leaked");
  static std::vector<Context> contexts;
  static std::vector<Future<Graph>> builds;
  for (int kind = 0; kind < 4; ++kind) {
    contexts.push_back(runtime.create_context().get());
    builds.push_back(begin_build(contexts.back(), kind));
  }
  for (int left = std::atoi(argv[2]); left > 0; --left) std::this_thread::yield();
  if (how != "callback") return 0;
  contexts[0].pending().then([](const auto&) { std::exit(0); });
  for (;;) pause();
}
