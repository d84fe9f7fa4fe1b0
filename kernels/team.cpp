#include "kernels/team.hpp"

#include "base/invariant.hpp"
#include "kernels/threads.hpp"

namespace polychron::kernels {
namespace {

// Some 100 us in all. First looks of 25 ns, which are done with when work comes at once; then such
// of 0.4 us that let others have the processor, who may need it more.
constexpr int looks = 1000;
constexpr int polite_looks = 200;

void breathe() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

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

Team::Team(int threads) {
  ensure(threads >= 1, "a team has the one who calls it");
  try {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
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
  ensure(parts <= 0xFFFFU, "the parts of a step can be counted in 16 bits");
  step_ = &step;
  running_.store(static_cast<int>(parts), std::memory_order_relaxed);
  // In one order for all: who is about to sleep sees the parts, or is seen to be asleep.
  next_.store(word(++number_, parts), std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) > 0) {
    calls_.fetch_add(1);
    calls_.notify_all();
  }
  work();
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

void Team::work() noexcept {
  while (has_parts(next_.load(std::memory_order_acquire))) {
    const Word mine = next_.fetch_add(1, std::memory_order_acq_rel);
    if (!has_parts(mine)) return;
    // From here to the end of the part run() cannot return: the step stays what it is.
    try {
      step_->run_part(taken(mine));
    } catch (...) {
      if (!failed_.exchange(true, std::memory_order_acq_rel)) error_ = std::current_exception();
    }
    running_.fetch_sub(1, std::memory_order_acq_rel);
    running_.notify_one();
  }
}

void Team::serve() noexcept {
  use_standard_arithmetic();
  use_one_thread();
  while (!ended_.load(std::memory_order_acquire)) {
    if (look_out())
      work();
    else
      sleep();
  }
}

bool Team::look_out() const noexcept {
  return soon([&] {
    return has_parts(next_.load(std::memory_order_acquire)) ||
           ended_.load(std::memory_order_acquire);
  });
}

void Team::sleep() noexcept {
  const int calls = calls_.load();
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  if (!has_parts(next_.load(std::memory_order_seq_cst)) && !ended_.load()) calls_.wait(calls);
  asleep_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace polychron::kernels
