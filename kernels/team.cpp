#include "kernels/team.hpp"

#include <bit>

#include "base/invariant.hpp"
#include "kernels/threads.hpp"

namespace polychron::kernels {
namespace {

// Some 100 us in all. First looks of 25 ns, which are done with when work comes at once; then such
// of 0.4 us that let others have the processor, who may need it more.
constexpr int looks = 1000;
constexpr int polite_looks = 200;

/// True as soon as `done` is, false if it is not after a while.
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
  // In one order for all: who is about to sleep sees the parts, or is seen to be asleep.
  untaken_.store(word(++number_, parts), std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) > 0) {
    calls_.fetch_add(1);
    calls_.notify_all();
  }
  work(0);
  const auto done = [&] { return running_.load(std::memory_order_acquire) == 0; };
  while (!soon(done)) {
    // Whoever has the last part lost the processor.
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
    // From here to the end of the part run() cannot return: the step stays what it is.
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
