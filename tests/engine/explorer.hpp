// A deterministic scheduler for small programs of threads, as Loom and Shuttle have. It searches
// all schedules with a bounded number of preemptions, depth first (Musuvathi and Qadeer, "Iterative
// Context Bounding", PLDI 2007). Threads are fibers, so that a schedule takes microseconds.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace testing::exploring {

using Nanoseconds = std::int64_t;

/// One run of the program at a time. A choice that costs is a preemption, a timer that fires early
/// or a spurious wake-up: at most `bound` of these in a run. All else is explored without a bound.
class Explorer {
 public:
  struct Found {
    std::uint64_t runs = 0;
    std::string failure;  ///< empty if all runs were good
  };
  /// Runs `program` under every schedule, until one fails.
  Found search(int bound, const std::function<void(Explorer&)>& program);

  // -- for the program, which is the first thread
  /// A thread that begins at once or later. The number is for join().
  std::size_t spawn(std::string name, std::function<void()> body);
  void join(std::size_t thread);
  /// Ends this run, and the search. Does not return.
  [[noreturn]] void fail(const std::string& why);
  void require(bool holds, const char* what) {
    if (!holds) fail(what);
  }

  // -- for the model of a machine
  static Explorer& here() { return *current_; }
  std::size_t self() const { return running_; }
  Nanoseconds now() const { return now_; }
  /// No costly choice about time was made in this run: delays mean something.
  bool on_time() const { return on_time_; }
  /// Another thread may run here.
  void point();
  /// The same, at no cost: this thread gives way.
  void yield();
  /// Blocks until another thread wakes this one, or the deadline. `place` is what wakes it.
  void block(const void* place, std::optional<Nanoseconds> deadline = {});
  /// Wakes one of those that block on `place`, any of them, or all.
  void wake_one(const void* place);
  void wake_all(const void* place);

 private:
  struct Thread {
    std::string name;
    std::function<void()> body;
    std::unique_ptr<char[]> stack;
    ucontext_t context{};
    const void* blocked_on = nullptr;
    std::optional<Nanoseconds> deadline;
    bool ended = false;
  };
  struct Choice {
    std::size_t chosen = 0, options = 0;
  };

  static void enter();
  std::size_t choose(std::size_t options);
  void switch_to(std::size_t thread);
  /// Picks who runs next. `may_stay`: the running thread is runnable; `free`: others cost nothing.
  void reschedule(bool may_stay, bool free);
  void fire(std::size_t thread);
  std::string describe() const;
  bool next_path();

  static inline Explorer* current_ = nullptr;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::unique_ptr<char[]>> stacks_;  ///< of earlier runs
  ucontext_t outside_{};
  std::vector<Choice> path_;
  std::size_t depth_ = 0, running_ = 0, steps_ = 0;
  int costs_left_ = 0;
  Nanoseconds now_ = 0;
  bool on_time_ = true;
  std::string failure_;
};

}  // namespace testing::exploring
