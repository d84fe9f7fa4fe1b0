// Waiting operations hardly slow others down. Measures an operation's way through the order of a
// lane with up to a million others behind a lease, and dispatches through the public API while a
// lease is out. With the number after the slash, no time should grow by more than the depth of a
// tree.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "actors/timeline.hpp"
#include "tests/bench/tiny.hpp"

using namespace polychron;
using actors::Timeline;

namespace {

msg::TensorRef tensor() { return std::make_shared<msg::TensorSlot>(); }

/// One lane's order, with a lease of one tensor out.
class Lane {
 public:
  /// `waiting` operations wait behind the lease: half of them read the leased tensor, half write
  /// it.
  explicit Lane(std::int64_t waiting) {
    timeline_.keep_running(arrival(msg::op::Lend{leased_, nullptr}), now_, true);
    for (std::int64_t i = 0; i < waiting; ++i)
      timeline_.keep(i % 2 == 0 ? arrival(msg::op::Read{leased_, nullptr})
                                : arrival(msg::op::Write{leased_, nullptr, "", {}}),
                     now_);
    timeline_.next();
  }
  /// Handles an operation that can start when it arrives, as a device does.
  void pass() {
    const auto message = arrival(msg::op::Write{other_, nullptr, "", {}});
    if (timeline_.may_start(message)) timeline_.advance();
  }
  /// Handles operations that come ahead of their turn, as a device does: two arrive in the wrong
  /// order.
  void pass_two_by_the_waiting_room() {
    auto first = arrival(msg::op::Write{other_, nullptr, "", {}});
    timeline_.keep(arrival(msg::op::Read{other_, nullptr}), now_);
    timeline_.keep(std::move(first), now_);
    carry_out_ready();
  }
  void end_the_lease() {
    timeline_.finish(1);
    carry_out_ready();
  }
  bool idle() const { return timeline_.idle(); }

 private:
  msg::carry_out arrival(msg::Operation operation) {
    ++turn_;
    return {{turn_, {0, turn_}, {}}, std::move(operation), {}};
  }
  void carry_out_ready() {
    while (auto* const next = timeline_.next()) timeline_.finish(next->stamp.at.turn);
  }

  msg::Ticket turn_ = 0;
  const msg::TensorRef leased_ = tensor(), other_ = tensor();
  const msg::Clock::time_point now_ = msg::Clock::now();
  Timeline timeline_{[](const msg::Wait&) { return true; }, [](const msg::Wait&) {}};
};

/// range(0) operations arrive behind a lease, and it ends. An item is one of them.
void arriving_and_leaving(benchmark::State& state) {
  for (auto _ : state) {
    Lane lane(state.range(0));
    lane.end_the_lease();
    if (!lane.idle()) state.SkipWithError("something still waits");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void starting_at_once(benchmark::State& state) {
  Lane lane(state.range(0));
  for (auto _ : state) lane.pass();
}

/// An item is one of the two operations.
void by_the_waiting_room(benchmark::State& state) {
  Lane lane(state.range(0));
  for (auto _ : state) lane.pass_two_by_the_waiting_room();
  state.SetItemsProcessed(2 * state.iterations());
}

/// Dispatches beside a lease that is out, on `range(0)` lanes, after `range(1)` others.
void dispatches_beside_a_lease(benchmark::State& state) {
  constexpr benchmark::IterationCount batch = 10'000;
  bench::Tiny tiny(static_cast<int>(state.range(0)));
  const auto leased = tiny.tensor();
  auto lease = tiny.context.export_tensor(leased).get();
  const auto behind = tiny.context.read_tensor(leased);
  for (std::int64_t i = 0; i < state.range(1); ++i) tiny.dispatch();
  tiny.wait();
  while (state.KeepRunningBatch(batch)) {
    for (benchmark::IterationCount i = 0; i < batch; ++i) tiny.dispatch();
    tiny.wait();
  }
  lease.return_now();
}

constexpr std::int64_t thousand = 1'000, million = 1'000'000;

// The number of iterations is fixed where each makes a queue. Otherwise the benchmark would make
// one for every guess at the number that it needs.
BENCHMARK(arriving_and_leaving)->Arg(thousand)->Arg(100 * thousand);
BENCHMARK(arriving_and_leaving)->Arg(million)->Iterations(3);
BENCHMARK(starting_at_once)
    ->Arg(0)
    ->Arg(thousand)
    ->Arg(100 * thousand)
    ->Arg(million)
    ->Iterations(200'000);
BENCHMARK(by_the_waiting_room)
    ->Arg(0)
    ->Arg(thousand)
    ->Arg(100 * thousand)
    ->Arg(million)
    ->Iterations(100'000);
BENCHMARK(dispatches_beside_a_lease)
    ->ArgNames({"lanes", "after"})
    ->ArgsProduct({{1, 2}, {0, 200 * thousand, million}})
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
