// A million dispatches and a hundred thousand live tensors: memory and time per operation as they
// grow.
#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "polychron/polychron.hpp"

using namespace polychron;
using Clock = std::chrono::steady_clock;

namespace {

/// Resident memory of this process in MiB.
double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

/// Prints time per operation since `start`, and memory.
void report(const char* what, std::size_t done, std::size_t operations, Clock::time_point start) {
  const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
  std::cout << std::setw(9) << done << " " << what << std::fixed << std::setprecision(2)
            << std::setw(9) << spent.count() / static_cast<double>(operations) << " us each "
            << std::setw(9) << resident_mib() << " MiB resident\n";
}

}  // namespace

int main() {
  Runtime runtime;
  auto context = runtime.create_context().get();
  const TensorDescriptor four{{DataType::float32, {4}}, true, true, {}};
  GraphBuilder builder(context);
  const auto graph =
      builder.build({{"c", builder.add(builder.input("a", four), builder.input("b", four))}}).get();
  const NamedTensors inputs{{"a", context.create_tensor(four).get()},
                            {"b", context.create_tensor(four).get()}};
  const NamedTensors outputs{{"c", context.create_tensor(four).get()}};

  constexpr std::size_t block = 100'000;
  for (std::size_t done = block; done <= 10 * block; done += block) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < block; ++i) context.dispatch(graph, inputs, outputs);
    static_cast<void>(context.read_tensor(outputs[0].second).get());
    report("dispatches", done, block, start);
  }

  std::vector<Tensor> tensors;
  for (std::size_t done = block / 10; done <= block; done += block / 10) {
    const auto start = Clock::now();
    std::vector<Future<Tensor>> asked;
    for (std::size_t i = 0; i < block / 10; ++i) asked.push_back(context.create_tensor(four));
    for (auto& tensor : asked) tensors.push_back(tensor.get());
    for (std::size_t i = 0; i < block / 10; ++i) context.dispatch(graph, inputs, outputs);
    static_cast<void>(context.read_tensor(outputs[0].second).get());
    report("tensors, each with a dispatch", done, block / 10, start);
  }
  const auto start = Clock::now();
  tensors.clear();
  static_cast<void>(context.read_tensor(outputs[0].second).get());
  report("tensors destroyed", block, block, start);
}
