// What a dispatch of a tiny graph costs through the public API: pipelined, and one at a time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench/tiny.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// An item is a dispatch; the last one's end is waited for.
void pipelined(benchmark::State& state) {
  constexpr benchmark::IterationCount batch = 10'000;
  bench::Tiny tiny;
  while (state.KeepRunningBatch(batch)) {
    for (benchmark::IterationCount i = 0; i < batch; ++i) tiny.dispatch();
    tiny.wait();
  }
}

/// Google Benchmark tells what a trip takes on average; the slow ones are in the counters.
void awaited(benchmark::State& state, bool with_write) {
  bench::Tiny tiny;
  const std::vector<float> values(4, 1);
  std::vector<double> trips;
  for (auto _ : state) {
    const auto start = Clock::now();
    if (with_write) tiny.context.write_tensor(tiny.inputs[0].second, values);
    tiny.dispatch();
    tiny.wait();
    trips.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(trips.begin(), trips.end());
  state.counters["median_us"] = trips[trips.size() / 2];
  state.counters["p99_us"] = trips[trips.size() * 99 / 100];
}

BENCHMARK(pipelined)->UseRealTime()->Repetitions(9)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(awaited, dispatch_read, false)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(awaited, write_dispatch_read, true)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
