// What waits costs what does not wait next to nothing: an operation's way through the order of a
// lane with up to a million others behind a lease, and dispatches through the public API beside a
// lease that is out. No column should grow downwards by more than the depth of a tree.
// Usage: bench_waiting [most operations that wait, default 1000000]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <vector>

#include "actors/timeline.hpp"
#include "polychron/polychron.hpp"

using namespace polychron;
using actors::Timeline;
using Clock = std::chrono::steady_clock;

namespace {

double nanoseconds_each(Clock::time_point start, std::size_t count) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
         static_cast<double>(count);
}

msg::TensorRef tensor() { return std::make_shared<msg::TensorSlot>(); }

/// One lane's order, with a lease of one tensor out.
class Lane {
 public:
  Lane() { timeline_.keep_running(arrival(msg::op::Lend{leased_, nullptr}), now_); }

  /// Half of them read what is on lease, half write it.
  void wait_behind_the_lease(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      timeline_.keep(i % 2 == 0 ? arrival(msg::op::Read{leased_, nullptr})
                                : arrival(msg::op::Write{leased_, nullptr, "", {}}),
                     now_);
    timeline_.next();
  }
  /// As a device does with what can start when it arrives.
  void pass() {
    const auto message = arrival(msg::op::Write{other_, nullptr, "", {}});
    if (timeline_.may_start(message)) timeline_.advance();
  }
  /// As it does with what was ahead of its turn: two arrive in the wrong order.
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

void measure_order(std::size_t most) {
  constexpr std::size_t passing = 200'000;
  std::cout << "the order of a lane, ns an operation\n   waiting  arriving  starting at once  "
               "kept, started, finished\n";
  for (const std::size_t waiting : {0UL, 1'000UL, 100'000UL, 1'000'000UL}) {
    if (waiting > most) break;
    Lane lane;
    const auto arriving = Clock::now();
    lane.wait_behind_the_lease(waiting);
    const auto arrival = waiting == 0 ? 0 : nanoseconds_each(arriving, waiting);
    double at_once = 1e18, kept = 1e18;
    for (int round = 0; round < 5; ++round) {
      auto start = Clock::now();
      for (std::size_t i = 0; i < passing; ++i) lane.pass();
      at_once = std::min(at_once, nanoseconds_each(start, passing));
      start = Clock::now();
      for (std::size_t i = 0; i < passing; i += 2) lane.pass_two_by_the_waiting_room();
      kept = std::min(kept, nanoseconds_each(start, passing));
    }
    std::cout << std::setw(10) << waiting << std::fixed << std::setprecision(0) << std::setw(10)
              << arrival << std::setw(18) << at_once << std::setw(25) << kept;
    const auto ending = Clock::now();
    lane.end_the_lease();
    if (waiting > 0)
      std::cout << "   lease ends: " << nanoseconds_each(ending, waiting) << " each that waited";
    std::cout << (lane.idle() ? "\n" : "   NOT IDLE\n");
  }
}

void measure_dispatches(int lanes) {
  Runtime runtime;
  ContextOptions options;
  options.lanes = lanes;
  auto context = runtime.create_context(options).get();
  const TensorDescriptor four{{DataType::float32, {4}}, true, true, {}};
  GraphBuilder builder(context);
  const auto graph =
      builder.build({{"c", builder.add(builder.input("a", four), builder.input("b", four))}}).get();
  const NamedTensors inputs{{"a", context.create_tensor(four).get()},
                            {"b", context.create_tensor(four).get()}};
  const NamedTensors outputs{{"c", context.create_tensor(four).get()}};
  const auto leased = context.create_tensor(four).get();
  auto lease = context.export_tensor(leased).get();
  const auto behind = context.read_tensor(leased);

  std::cout << "\ndispatches beside a lease, " << lanes
            << " lane(s): us each of 10,000\n      done     best   median\n";
  constexpr std::size_t block = 10'000, blocks = 20;
  const auto dispatch = [&] {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < block; ++i) context.dispatch(graph, inputs, outputs);
    static_cast<void>(context.read_tensor(outputs[0].second).get());
    return nanoseconds_each(start, block) / 1000;
  };
  dispatch();  // kernels are loaded
  for (std::size_t done = 0; done <= 1'000'000; done += blocks * block) {
    std::vector<double> each;
    for (std::size_t i = 0; i < blocks; ++i) each.push_back(dispatch());
    std::sort(each.begin(), each.end());
    std::cout << std::setw(10) << done << std::setprecision(2) << std::setw(9) << each.front()
              << std::setw(9) << each[blocks / 2] << "\n";
  }
  lease.return_now();
}

}  // namespace

int main(int argc, char** argv) {
  measure_order(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1'000'000);
  for (const int lanes : {1, 2}) measure_dispatches(lanes);
}
