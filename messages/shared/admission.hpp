// How many operations a context has in flight, and who must wait when there are too many.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>

#include "messages/shared/waiting.hpp"
#include "polychron/context.hpp"

namespace polychron::msg {

class Admission;

/// The permit of one operation in flight: taken by the call, carried along by its messages, given
/// back when this goes, wherever that is. Movable; a copy holds nothing (CAF wants messages that
/// can be copied, and never copies ours).
class Permit {
 public:
  Permit() = default;
  explicit Permit(Admission& admission) noexcept : admission_(&admission) {}
  Permit(Permit&& other) noexcept : admission_(std::exchange(other.admission_, nullptr)) {}
  Permit(const Permit&) noexcept {}
  Permit& operator=(Permit other) noexcept {
    std::swap(admission_, other.admission_);
    return *this;
  }
  ~Permit() { give_back(); }

  /// Gives the permit back, and lets waiting callers in.
  void give_back() noexcept;
  /// Gives the permit back, for a lane between two operations. Lets waiting callers in only if half
  /// of the permits are free, or if the lane is `idle`.
  void give_back_in_passing(bool idle) noexcept;
  explicit operator bool() const noexcept { return admission_ != nullptr; }

 private:
  Admission* admission_ = nullptr;  ///< outlives all messages: see actors/actor.hpp
};

/// Counts permits, and lets callers wait for one in the order in which they came. Callers write
/// `entered`, and the threads that end operations write `left`; both read both. Thread-safe; no
/// lock is taken below the limit while nobody waits.
class Admission {
 public:
  struct Settings {
    std::uint64_t most = 1;
    AdmissionPolicy policy = AdmissionPolicy::block;
    const char* what = "";  ///< "operations in flight"
    Now now;
    Meanwhile meanwhile;
  };
  Admission(Settings settings, std::shared_ptr<const polychron::detail::Origin> lost);

  /// Takes a permit. At the limit it throws quota_exceeded, or waits behind those who wait already,
  /// as the context was configured. Throws aborted or timed_out when `conditions` end the wait, and
  /// the loss of the context when that ends it.
  Permit enter(const Conditions& conditions = {});
  /// Takes a permit if there is one and nobody waits; else an empty one. Counts as no refusal.
  Permit try_enter_now() noexcept {
    return waiting_.load() == 0 && try_enter() ? Permit(*this) : Permit();
  }
  /// The context is gone: callers that wait, and those that come later, hear of it.
  void close() noexcept;
  /// True if a lane without work has to call settle().
  bool anybody_waits() const noexcept { return waiting_.load() != 0; }
  /// By a lane that has nothing left to do: free permits go to those who wait, be they few.
  void settle() noexcept;

  /// Exact, and never above the limit.
  std::uint64_t in_flight() const noexcept;
  /// The highest number in flight, looked at now and then rather than at each call.
  std::uint64_t peak() const noexcept { return peak_; }
  std::uint64_t blocked() const noexcept { return blocked_; }
  std::uint64_t refused() const noexcept { return refused_; }
  void count_refusal() noexcept { ++refused_; }
  AdmissionPolicy policy() const noexcept { return settings_.policy; }
  std::uint64_t most() const noexcept { return settings_.most; }

 private:
  friend class Permit;
  struct Waiter {
    std::condition_variable called;
    bool admitted = false;
  };
  bool try_enter() noexcept;
  Permit wait_for_permit(const Conditions& conditions);
  void leave(bool in_passing, bool idle) noexcept;
  /// Gives free permits to the first who wait. Under the lock.
  void admit() noexcept;
  void look() noexcept;

  const Settings settings_;
  const std::shared_ptr<const polychron::detail::Origin> lost_;
  // Callers write the first cache line and devices the second. A caller looks at the second only
  // when what it knew of it says that the limit is near.
  alignas(64) std::atomic<std::uint64_t> entered_{0};
  std::atomic<std::uint64_t> known_left_{0}, peak_{0}, blocked_{0}, refused_{0};
  alignas(64) std::atomic<std::uint64_t> left_{0};
  alignas(64) std::atomic<std::uint64_t> waiting_{0};
  std::mutex mutex_;
  bool closed_ = false;
  std::list<Waiter> waiters_;  ///< in the order in which they came
};

}  // namespace polychron::msg
