// The threads of one lane, which share the parts of a step.
//
// A step that is cut in parts (Bound::parts) is the same work whoever does it, so nobody waits for
// a thread that sleeps: who calls takes part after part, the others take what is left when they
// come. Each begins where its share begins, step after step: what a part reads has then often been
// written by the same core. They look for work for some 100 us after the last, and sleep then.
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
  /// Of `threads` threads: the caller of run() is one of them. Throws std::system_error or
  /// std::bad_alloc, having ended those that it had.
  explicit Team(int threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  /// Nobody is in run().
  ~Team();

  std::size_t size() const noexcept { return size_; }
  /// Parts that a step may have.
  static constexpr std::size_t most_parts = 32;

  /// Runs the parts of `step`, of which there are `parts`, each once and in any order. Throws what
  /// the first that failed has thrown, when all have ended. One caller at a time, on any thread.
  void run(Bound& step, std::size_t parts);
  /// How many steps it has run. By whoever called run() last, or has heard of it.
  std::uint32_t steps() const noexcept { return number_; }

 private:
  /// The parts that nobody has taken, a bit each, in one word with the number of their step: so
  /// that they are taken from the step that they are of.
  using Word = std::uint64_t;
  static constexpr Word word(std::uint32_t step, std::size_t parts) {
    return Word{step} << 32U | ((Word{1} << parts) - 1);
  }
  static constexpr std::uint32_t untaken(Word word) { return static_cast<std::uint32_t>(word); }

  /// Takes parts and runs them until none are left; `thread`: which of the team, the caller is 0.
  void work(std::size_t thread) noexcept;
  /// The first untaken part from the thread's share on; nullopt if all are taken.
  std::optional<std::size_t> take(std::size_t thread) noexcept;
  void serve(std::size_t thread) noexcept;
  bool look_out() const noexcept;
  void sleep() noexcept;
  void end() noexcept;

  const std::size_t size_;  ///< of `threads_`, and the caller
  Bound* step_ = nullptr;   ///< written before `untaken_` says that it has parts
  std::uint32_t number_ = 0;
  std::exception_ptr error_;  ///< of the first that failed; by whoever set `failed_`
  std::atomic<bool> failed_{false};
  /// How many parts it has; 0 before the first. Written before `untaken_`, and may be a later
  /// step's for who looks late: it says where to begin to look, and no more.
  std::atomic<std::size_t> parts_{0};
  alignas(64) std::atomic<Word> untaken_{0};
  alignas(64) std::atomic<int> running_{0};  ///< parts that have not ended
  alignas(64) std::atomic<int> asleep_{0};
  std::atomic<int> calls_{0};  ///< what those who sleep wait for
  std::atomic<bool> ended_{false};
  std::vector<std::thread> threads_;
};

}  // namespace polychron::kernels
