#include "kernels/team.hpp"

#include <bit>

#include "base/invariant.hpp"
#include "kernels/threads.hpp"

namespace polychron::kernels {
namespace {

// About 100 us in all. A thread first spins, 25 ns a look, which serves work that comes at once. It
// then yields, 0.4 us a look, so that other threads can have the processor.
constexpr int looks = 1000;
constexpr int polite_looks = 200;

/// Spins, then yields, until `done` is true. Returns false if it gives up.
bool soon(auto done) noexcept {
  for (int i = 0; i < looks + polite_looks; ++i) {
    if (done()) return true;
    if (i < looks)
      breathe();
    else
      std::this_thread::yield();
  }
  return false;
}

}  // namespace

Team::Team(int threads) : size_(static_cast<std::size_t>(threads)) {
  ensure(threads >= 1, "a team has the one who calls it");
  try {
    for (std::size_t i = 1; i < size_; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (...) {
    end();
    throw;
  }
}

Team::~Team() { end(); }

void Team::end() noexcept {
  ended_.store(true);
  calls_.fetch_add(1);
  calls_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(Bound& step, std::size_t parts) {
  ensure(parts <= most_parts, "the parts of a step have a bit each");
  step_ = &step;
  parts_.store(parts, std::memory_order_relaxed);
  running_.store(static_cast<int>(parts), std::memory_order_relaxed);
  // Sequentially consistent: a thread about to sleep either sees the parts or is counted in
  // asleep_.
  untaken_.store(word(++number_, parts), std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) > 0) {
    calls_.fetch_add(1);
    calls_.notify_all();
  }
  work(0);
  const auto done = [&] { return running_.load(std::memory_order_acquire) == 0; };
  while (!soon(done)) {
    // The thread with the last part was preempted. Blocks until it ends.
    const int left = running_.load(std::memory_order_acquire);
    if (left != 0) running_.wait(left, std::memory_order_acquire);
  }
  if (!failed_.load(std::memory_order_relaxed)) return;
  failed_.store(false, std::memory_order_relaxed);
  std::rethrow_exception(std::exchange(error_, nullptr));
}

std::optional<std::size_t> Team::take(std::size_t thread) noexcept {
  Word now = untaken_.load(std::memory_order_acquire);
  while (untaken(now) != 0) {
    const std::size_t begin = thread * parts_.load(std::memory_order_relaxed) / size();
    const std::uint32_t after = untaken(now) >> begin << begin;
    const int part = std::countr_zero(after != 0 ? after : untaken(now));
    if (untaken_.compare_exchange_weak(now, now & ~(Word{1} << part), std::memory_order_acq_rel,
                                       std::memory_order_acquire))
      return static_cast<std::size_t>(part);
  }
  return std::nullopt;
}

void Team::work(std::size_t thread) noexcept {
  while (const auto part = take(thread)) {
    // run() cannot return before this part ends, so `step_` stays the same.
    try {
      step_->run_part(*part);
    } catch (...) {
      if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = std::current_exception();
    }
    running_.fetch_sub(1, std::memory_order_acq_rel);
    running_.notify_one();
  }
}

void Team::serve(std::size_t thread) noexcept {
  use_standard_arithmetic();
  use_one_thread();
  while (!ended_.load(std::memory_order_acquire)) {
    if (look_out())
      work(thread);
    else
      sleep();
  }
}

bool Team::look_out() const noexcept {
  return soon([&] {
    return untaken(untaken_.load(std::memory_order_acquire)) != 0 ||
           ended_.load(std::memory_order_acquire);
  });
}

void Team::sleep() noexcept {
  const int calls = calls_.load();
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  if (untaken(untaken_.load(std::memory_order_seq_cst)) == 0 && !ended_.load()) calls_.wait(calls);
  asleep_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace polychron::kernels
