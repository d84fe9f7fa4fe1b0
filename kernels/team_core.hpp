// How threads share the parts of steps, over the machine that they run on: a test puts a
// deterministic scheduler in place of real threads.
//
// Lanes run executions, and each brings a thread. Helpers have the cores that lanes leave. While
// `busy` executions are under way, the first `cores - busy` helpers may take parts, of any lane.
// More threads than cores run only until a helper has ended the part that it has in hand. Where
// several contexts are busy, each has its share of the cores that are left, rounded down.
//
// The lane's thread takes part after part and never waits for a sleeping thread. A helper that
// comes late, or never, changes no result: it only leaves parts to others. So the only waits are
// the lane's for parts that helpers have in hand, and the sleep of a helper.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/invariant.hpp"

namespace polychron::kernels {

/// The most parts that a step may have.
inline constexpr std::size_t most_parts = 32;

/// The lanes and the helpers of a context.
template <class P>
class SharedSteps {
 public:
  using Step = typename P::Step;

  using Count = typename P::template Atomic<int>;

  /// `all` counts the executions of all contexts that share the cores.
  SharedSteps(std::size_t lanes, std::size_t cores, Count& all)
      : cores_(cores), lanes_(lanes), helpers_(cores - 1), all_(all) {}

  std::size_t cores() const noexcept { return cores_; }
  std::size_t helpers() const noexcept { return helpers_.size(); }

  // -- for a lane: one thread at a time
  /// An execution begins, and takes a core from the helpers until it ends.
  void begin() noexcept {
    all_.fetch_add(1);
    busy_.fetch_add(1);
  }
  void end() noexcept {
    busy_.fetch_sub(1);
    all_.fetch_sub(1);
  }
  /// Runs each of the `parts` parts of `step` once, in any order. When all have ended, it rethrows
  /// the exception of the first part that failed.
  void run(std::size_t lane, Step& step, std::size_t parts) {
    ensure(parts <= most_parts, "the parts of a step have a bit each");
    Lane& mine = lanes_[lane];
    mine.step = &step;
    mine.parts.store(parts);
    mine.running.store(static_cast<int>(parts));
    // Sequentially consistent: a helper about to sleep either sees the parts or is seen asleep.
    mine.untaken.store(parts < most_parts ? (Word{1} << parts) - 1 : ~Word{0});
    ++mine.number;
    if (parts > 1) call_helpers(lane, parts - 1);
    while (const auto part = take(mine, 0)) run_part(mine, *part);
    // planted: a lane does not wait for the parts that helpers have in hand
    wait_for_parts(mine);
    if (!mine.failed.load()) return;
    mine.failed.store(false);
    std::rethrow_exception(std::exchange(mine.error, nullptr));
  }
  /// The number of steps that have run.
  std::uint32_t steps(std::size_t lane) const noexcept { return lanes_[lane].number; }

  // -- for a helper
  /// Its life, until close(). `helper` is below helpers().
  void serve(std::size_t helper) noexcept {
    std::size_t lane = 0;  // the one that it helped last
    while (!ended_.load()) {
      help(helper, lane);
      if (!look_out(helper)) sleep(helper);
    }
  }
  /// The helpers end. No lane may be in run().
  void close() noexcept {
    ended_.store(true);
    for (Helper& helper : helpers_) wake(helper);
  }

 private:
  /// The untaken parts, one bit each. A thread that takes one has it, whichever step it came for:
  /// it reads the step afterwards.
  using Word = std::uint32_t;

  struct alignas(64) Lane {
    Step* step = nullptr;      ///< written before `untaken` has its parts
    std::uint32_t number = 0;  ///< of steps so far
    std::exception_ptr error;  ///< of the first failed part; set with `failed`
    typename P::template Atomic<bool> failed{false};
    /// The number of parts of the step. A slow thread may read the number of a later step, which is
    /// harmless: it only tells where the search begins.
    typename P::template Atomic<std::size_t> parts{0};
    alignas(64) typename P::template Atomic<Word> untaken{0};
    alignas(64) typename P::template Atomic<int> running{0};  ///< parts that have not ended
  };
  struct alignas(64) Helper {
    typename P::template Atomic<int> asleep{0};
  };

  /// The helpers that may work now: the first of them.
  std::size_t spare() const noexcept {
    const auto at_least_1 = [](int count) { return static_cast<std::size_t>(std::max(1, count)); };
    const auto all = at_least_1(all_.load()), busy = std::min(all, at_least_1(busy_.load()));
    return (cores_ - std::min(cores_, all)) * busy / all;
  }
  void call_helpers(std::size_t lane, std::size_t wanted) noexcept {
    const auto free = spare();
    // Lanes begin at different helpers.
    for (std::size_t i = 0; i < std::min(wanted, free); ++i)
      // planted: a lane calls nobody
      wake(helpers_[(lane * wanted + i) % free]);
  }
  static void wake(Helper& helper) noexcept {
    if (helper.asleep.load() == 0 || helper.asleep.exchange(0) == 0) return;
    helper.asleep.notify_one();
  }

  /// Takes the first untaken part, searching from the thread's share on; nullopt if all are taken.
  std::optional<std::size_t> take(Lane& lane, std::size_t thread) noexcept {
    Word now = lane.untaken.load();
    while (now != 0) {
      const std::size_t parts = std::max<std::size_t>(1, lane.parts.load());
      const auto begin = cores_ <= parts ? thread * parts / cores_ : thread % parts;
      const Word after = now >> begin << begin;
      const Word part = Word{1} << std::countr_zero(after != 0 ? after : now);
      // planted: a part is taken without a look at who else takes it
      if (lane.untaken.compare_exchange_weak(now, now & ~part))
        return static_cast<std::size_t>(std::countr_zero(part));
    }
    return std::nullopt;
  }
  static void run_part(Lane& lane, std::size_t part) noexcept {
    // run() cannot return before this part ends, so `step` stays the same.
    try {
      lane.step->run_part(part);
    } catch (...) {
      if (!lane.failed.exchange(true)) lane.error = std::current_exception();
    }
    lane.running.fetch_sub(1);
    // planted: the end of a part wakes nobody
    lane.running.notify_one();
  }
  static void wait_for_parts(Lane& lane) noexcept {
    for (typename P::Spin spin; lane.running.load() != 0;) {
      if (spin.again()) continue;
      // The thread with the last part was preempted. Blocks until it ends.
      if (const int left = lane.running.load(); left != 0) lane.running.wait(left);
    }
  }

  /// Takes parts of any lane while it may.
  void help(std::size_t helper, std::size_t& lane) noexcept {
    for (std::size_t looked = 0; looked < lanes_.size();) {
      // planted: a helper takes parts though all cores are busy
      if (helper >= spare()) return;
      if (const auto part = take(lanes_[lane], helper + 1)) {
        run_part(lanes_[lane], *part);
        looked = 0;
      } else {
        lane = (lane + 1) % lanes_.size();
        ++looked;
      }
    }
  }
  bool has_work(std::size_t helper) const noexcept {
    return helper < spare() &&
           std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.untaken.load() != 0; });
  }
  /// True if there is something to do; false if the helper should sleep.
  bool look_out(std::size_t helper) const noexcept {
    for (typename P::Spin spin; !ended_.load() && !has_work(helper);)
      // A helper that may not work leaves its core at once.
      if (helper >= spare() || !spin.again()) return false;
    return true;
  }
  void sleep(std::size_t helper) noexcept {
    auto& asleep = helpers_[helper].asleep;
    asleep.store(1);
    // planted: a helper does not look for the end before it sleeps
    const bool ended = ended_.load();
    // planted: a helper does not look for work before it sleeps
    const bool work = has_work(helper);
    if (ended || work)
      asleep.store(0);
    else
      asleep.wait(1);
  }

  const std::size_t cores_;
  std::vector<Lane> lanes_;
  std::vector<Helper> helpers_;
  Count& all_;
  alignas(64) Count busy_{0};  ///< executions under way
  alignas(64) typename P::template Atomic<bool> ended_{false};
};

}  // namespace polychron::kernels
