// The threads of one lane, which share the parts of a step.
//
// The calling thread takes part after part and never waits for a sleeping thread. The other threads
// take the parts that are left when they wake. The parts of a step (Bound::parts) are the same
// whichever thread runs them.
//
// Each thread begins at its own share of the parts, in every step. The data that a part reads has
// then often been written by the same core. After its last part a thread spins and yields for about
// 100 us, then blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "kernels/kernel.hpp"

namespace polychron::kernels {

class Team {
 public:
  /// `threads` counts the caller of run(). If it throws std::system_error or std::bad_alloc, it has
  /// joined the threads that it had started.
  explicit Team(int threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  /// No thread may be in run().
  ~Team();

  std::size_t size() const noexcept { return size_; }
  /// The most parts that a step may have.
  static constexpr std::size_t most_parts = 32;

  /// Runs each of the `parts` parts of `step` once, in any order. When all have ended, it rethrows
  /// the exception of the first part that failed. One caller at a time, on any thread.
  void run(Bound& step, std::size_t parts);
  /// The number of steps that have run. Only for the last caller of run(), or a thread ordered
  /// after it.
  std::uint32_t steps() const noexcept { return number_; }

 private:
  /// The untaken parts, one bit each, in one word with the number of their step. The number keeps a
  /// slow thread from taking a part of a later step by mistake.
  using Word = std::uint64_t;
  static constexpr Word word(std::uint32_t step, std::size_t parts) {
    return Word{step} << 32U | ((Word{1} << parts) - 1);
  }
  static constexpr std::uint32_t untaken(Word word) { return static_cast<std::uint32_t>(word); }

  /// Takes parts and runs them until none is left. `thread` is the number in the team; the caller
  /// is 0.
  void work(std::size_t thread) noexcept;
  /// Takes the first untaken part, searching from the thread's share on; nullopt if all are taken.
  std::optional<std::size_t> take(std::size_t thread) noexcept;
  void serve(std::size_t thread) noexcept;
  bool look_out() const noexcept;
  void sleep() noexcept;
  void end() noexcept;

  const std::size_t size_;  ///< the threads in `threads_`, and the caller
  Bound* step_ = nullptr;   ///< written before `untaken_` has its parts
  std::uint32_t number_ = 0;
  std::exception_ptr error_;  ///< of the first failed part; set with `failed_`
  std::atomic<bool> failed_{false};
  /// The number of parts of the step; 0 before the first step. Written before `untaken_`. A slow
  /// thread may read the number of a later step, which is harmless: it only tells where the search
  /// begins.
  std::atomic<std::size_t> parts_{0};
  alignas(64) std::atomic<Word> untaken_{0};
  alignas(64) std::atomic<int> running_{0};  ///< parts that have not ended
  alignas(64) std::atomic<int> asleep_{0};
  std::atomic<int> calls_{0};  ///< sleeping threads wait for it to change
  std::atomic<bool> ended_{false};
  std::vector<std::thread> threads_;
};

}  // namespace polychron::kernels
