// The threads of one lane, which share the parts of a step.
//
// A step that is cut in parts (Bound::parts) is the same work whoever does it, so nobody waits for
// a thread that sleeps: who calls takes part after part, the others take what is left when they
// come. They look for work for some 100 us after the last, and sleep then.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
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

  std::size_t size() const noexcept { return threads_.size() + 1; }
  /// Runs the parts of `step`, of which there are `parts`, each once and in any order. Throws what
  /// the first that failed has thrown, when all have ended. One caller at a time, on any thread.
  void run(Bound& step, std::size_t parts);
  /// How many steps it has run. By whoever called run() last, or has heard of it.
  std::uint32_t steps() const noexcept { return number_; }

 private:
  /// What is to be taken next, in one word, so that it is taken from the step that it is of: the
  /// step's number, how many parts it has, how many of them are taken.
  using Word = std::uint64_t;
  static constexpr Word word(std::uint32_t step, std::size_t parts) {
    return Word{step} << 32U | Word{parts} << 16U;
  }
  static constexpr std::size_t parts(Word word) { return word >> 16U & 0xFFFFU; }
  static constexpr std::size_t taken(Word word) { return word & 0xFFFFU; }
  static constexpr bool has_parts(Word word) { return taken(word) < parts(word); }

  /// Takes parts and runs them until none are left.
  void work() noexcept;
  void serve() noexcept;
  bool look_out() const noexcept;
  void sleep() noexcept;
  void end() noexcept;

  Bound* step_ = nullptr;  ///< written before `next_` says that it has parts
  std::uint32_t number_ = 0;
  std::exception_ptr error_;  ///< of the first that failed; by whoever set `failed_`
  std::atomic<bool> failed_{false};
  alignas(64) std::atomic<Word> next_{0};
  alignas(64) std::atomic<int> running_{0};  ///< parts that have not ended
  alignas(64) std::atomic<int> asleep_{0};
  std::atomic<int> calls_{0};  ///< what those who sleep wait for
  std::atomic<bool> ended_{false};
  std::vector<std::thread> threads_;
};

}  // namespace polychron::kernels
