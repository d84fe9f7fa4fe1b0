// The counts and complaints of the soak: each wrong reply with the expected and the actual value,
// up to a readable number.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "polychron/polychron.hpp"

namespace polychron::soak {

/// True if the library under test lets callbacks wait, gives leases one owner, counts constants and
/// keeps its limits exactly. WriteOptions::deadline came with all of that.
template <class Options>
concept BlockedCallsEnd = requires(Options options) {
  options.deadline;
};
inline constexpr bool rebuilt = BlockedCallsEnd<WriteOptions>;

/// Counts by all threads. Outlives the runtime.
struct Tally {
  explicit Tally(std::uint64_t of_run) : seed(of_run) {}

  const std::uint64_t seed;
  std::atomic<std::uint64_t> asked{0}, resolved{0}, rejected{0}, twice{0}, thrown{0};
  std::atomic<std::uint64_t> contexts{0}, lost{0}, tensors{0}, writes{0}, dispatches{0};
  std::atomic<std::uint64_t> computes{0}, leases{0}, builds{0}, chains{0}, scopes{0}, rests{0};
  std::atomic<std::uint64_t> uncaptured{0}, wrong{0};

  void complain(const std::string& what) {
    if (++wrong > most_complaints) return;
    const std::lock_guard lock(mutex_);
    complaints_.push_back("seed " + std::to_string(seed) + ": " + what);
  }
  std::vector<std::string> complaints() const {
    const std::lock_guard lock(mutex_);
    return complaints_;
  }

  /// Complains unless the faults, a destruction, a limit or a condition explain `error`: the soak
  /// makes no mistakes, and the library has none to report.
  void judge(const Error& error, const std::string& where) {
    if (std::string(error.what()).find("injected") != std::string::npos) return;
    switch (error.root().kind()) {
      case ErrorKind::invalid_state:
      case ErrorKind::quota_exceeded:
      case ErrorKind::out_of_memory:
      case ErrorKind::context_lost:
      case ErrorKind::aborted:
      case ErrorKind::timed_out:
        return;
      default:
        complain(where + ": nothing explains " + error.what());
    }
  }

 private:
  static constexpr std::uint64_t most_complaints = 20;
  mutable std::mutex mutex_;
  std::vector<std::string> complaints_;
};

/// Replies in flight, of a context or of all.
using Open = std::atomic<std::int64_t>;

/// Notes that a reply is expected, and that it came, and how. `open` counts it meanwhile; `check`
/// says what is wrong with a value, or nothing.
template <class T, class Check>
void expect(Tally& tally, const std::shared_ptr<Open>& open, Future<T> future, std::string what,
            Check check) {
  ++tally.asked;
  ++*open;
  const auto settled = std::make_shared<std::atomic<bool>>(false);
  future.then([&tally, open, settled, what = std::move(what), check](Result<T> result) {
    if (settled->exchange(true)) ++tally.twice;
    const std::string complaint = check(result);
    if (!complaint.empty()) tally.complain(what + ": " + complaint);
    if (result) {
      ++tally.resolved;
    } else {
      tally.judge(result.error(), what);
      ++tally.rejected;
    }
    --*open;
  });
}
template <class T>
void expect(Tally& tally, const std::shared_ptr<Open>& open, Future<T> future, std::string what) {
  expect(tally, open, std::move(future), std::move(what),
         [](const Result<T>&) { return std::string(); });
}

}  // namespace polychron::soak
