// The cost of a dispatch of a tiny graph through the public API: pipelined, one at a time, and with
// a fixed number of requests in flight.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "tests/bench/tiny.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// An item is a dispatch. The benchmark waits for the end of the last one.
void pipelined(benchmark::State& state) {
  constexpr benchmark::IterationCount batch = 10'000;
  bench::Tiny tiny;
  while (state.KeepRunningBatch(batch)) {
    for (benchmark::IterationCount i = 0; i < batch; ++i) tiny.dispatch();
    tiny.wait();
  }
}

/// Google Benchmark gives the mean of the trips. The counters give the slow ones.
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

/// The objects that the clients of a run share, while it lasts.
std::unique_ptr<bench::Tiny> shared;
void begin_shared(const benchmark::State& state) {
  shared = std::make_unique<bench::Tiny>(state.threads());
}
void end_shared(const benchmark::State&) { shared.reset(); }

/// Clients of one context with a lane for each. Each client has tensors of its own and range(0)
/// requests in flight. An item is a request: both inputs written, a dispatch, a read.
void on_their_way(benchmark::State& state) {
  const std::vector<float> values(4, 1);
  struct Request {
    polychron::NamedTensors inputs, outputs;
    polychron::Future<polychron::Buffer> reply;
  };
  std::vector<Request> requests(static_cast<std::size_t>(state.range(0)));
  const auto send = [&](Request& request) {
    for (const auto& [name, input] : request.inputs) shared->context.write_tensor(input, values);
    shared->context.dispatch(shared->graph, request.inputs, request.outputs);
    request.reply = shared->context.read_tensor(request.outputs[0].second);
  };
  for (auto& request : requests) {
    request.inputs = {{"a", shared->tensor()}, {"b", shared->tensor()}};
    request.outputs = {{"c", shared->tensor()}};
    send(request);
  }
  std::size_t oldest = 0;
  for (auto _ : state) {
    static_cast<void>(requests[oldest].reply.get());
    send(requests[oldest]);
    oldest = (oldest + 1) % requests.size();
  }
  for (auto& request : requests) static_cast<void>(request.reply.get());
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(pipelined)->UseRealTime()->Repetitions(9)->ReportAggregatesOnly();
BENCHMARK_CAPTURE(awaited, dispatch_read, false)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(awaited, write_dispatch_read, true)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(on_their_way)
    ->RangeMultiplier(4)
    ->Range(1, 256)
    ->UseRealTime()
    ->Setup(begin_shared)
    ->Teardown(end_shared);
BENCHMARK(on_their_way)
    ->Arg(1)
    ->Arg(4)
    ->Threads(2)
    ->UseRealTime()
    ->Setup(begin_shared)
    ->Teardown(end_shared);

}  // namespace

BENCHMARK_MAIN();
