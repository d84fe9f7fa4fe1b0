// What a dispatch of a tiny graph costs through the public API: pipelined, and one at a time.
// Usage: bench_dispatch [dispatches per round, default 200000]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "polychron/polychron.hpp"

using namespace polychron;
using Clock = std::chrono::steady_clock;

namespace {

double microseconds(Clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

double at(std::vector<double>& values, double quantile) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(quantile * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  const auto count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200000UL;
  Runtime runtime;
  auto context = runtime.create_context().get();
  const OperandDescriptor four{DataType::float32, {4}};
  GraphBuilder builder(context);
  const auto graph =
      builder.build({{"c", builder.add(builder.input("a", four), builder.input("b", four))}}).get();
  const auto tensor = [&] { return context.create_tensor({four, true, true, {}}).get(); };
  const NamedTensors inputs{{"a", tensor()}, {"b", tensor()}}, outputs{{"c", tensor()}};

  std::vector<double> rounds;
  for (int round = 0; round < 9; ++round) {
    const auto start = Clock::now();
    for (unsigned long i = 0; i < count; ++i) context.dispatch(graph, inputs, outputs);
    static_cast<void>(context.read_tensor(outputs[0].second).get());
    rounds.push_back(microseconds(Clock::now() - start) / static_cast<double>(count));
  }
  std::cout << "pipelined: " << at(rounds, 0.5) << " us a dispatch (median of 9 rounds of " << count
            << "; best " << at(rounds, 0) << ", worst " << at(rounds, 1) << ")\n";

  const std::vector<float> values(4, 1);
  for (const bool with_write : {false, true}) {
    std::vector<double> trips;
    for (int i = 0; i < 5000; ++i) {
      const auto start = Clock::now();
      if (with_write) context.write_tensor(inputs[0].second, values);
      context.dispatch(graph, inputs, outputs);
      static_cast<void>(context.read_tensor(outputs[0].second).get());
      trips.push_back(microseconds(Clock::now() - start));
    }
    std::cout << (with_write ? "write + " : "") << "dispatch + read, awaited: " << at(trips, 0.5)
              << " us median, " << at(trips, 0.99) << " us p99 (5000 times)\n";
  }
}
