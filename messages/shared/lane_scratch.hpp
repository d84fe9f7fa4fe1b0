// The scratch memory of a lane: its graphs share it, and an idle lane gives it back.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/backend.hpp"
#include "messages/conditions.hpp"
#include "messages/reserve.hpp"

namespace polychron::msg {

/// As large as the largest plan that ran on the lane lately. The instances own it, so that it goes
/// with the last of them. Only for the holder of the lane's LaneScratch.
class SharedArena : public kernels::LaneArena {
 public:
  /// Gives it room for a plan that is about to run. The content is lost. Returns out_of_memory, or
  /// throws it, and then it has no room.
  Result<void> fit(const std::shared_ptr<Budget>& budget, std::size_t plan) {
    largest_ = std::max(largest_, plan);
    const bool may_shrink = ++runs_ == lately;
    const auto wanted = may_shrink ? largest_ : std::max(plan, bytes.size());
    if (may_shrink) runs_ = 0, largest_ = plan;
    if (wanted == bytes.size()) return {};
    // The old memory goes first: there is never room for both.
    bytes = Buffer();
    reserved_ = {};
    auto reservation = reserve(budget, wanted);
    if (!reservation) return reservation.error();
    bytes = Buffer::uninitialized(wanted);
    reserved_ = std::move(*reservation);
    return {};
  }
  /// The next plan that runs makes it anew.
  void give_back() noexcept {
    bytes = Buffer();
    reserved_ = {};
    largest_ = 0, runs_ = 0;
  }

 private:
  /// After this many runs the arena shrinks to what they needed.
  static constexpr int lately = 256;
  Reservation reserved_;
  std::size_t largest_ = 0;
  int runs_ = 0;
};

/// Where a lane's runs meet the thread that looks for idle memory.
class LaneScratch {
 public:
  /// Taken by a run, from before it gives the arena room until it has ended.
  [[nodiscard]] std::unique_lock<std::mutex> hold() {
    std::unique_lock lock(mutex_);
    used_ = true;
    return lock;
  }
  /// The lane's arena. Only for the holder.
  std::shared_ptr<SharedArena> arena() {
    auto arena = arena_.lock();
    if (!arena) arena_ = arena = std::make_shared<SharedArena>();
    return arena;
  }
  /// Frees the arena if no run has held it since a look that was `patience` ago or earlier. Looks
  /// note the time, so that runs need no clock.
  void look(Clock::time_point now, Clock::duration patience) noexcept {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;  // in use
    if (std::exchange(used_, false)) last_seen_used_ = now;
    if (now - last_seen_used_ < patience) return;
    if (const auto arena = arena_.lock()) arena->give_back();
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<SharedArena> arena_;
  bool used_ = false;  ///< since the last look
  Clock::time_point last_seen_used_{};
};

/// One for each lane of a context. Actors keep it, and so may the thread that looks.
using Scratch = std::vector<LaneScratch>;

/// A lane that has not run for this long gives its arena back, at the next look.
inline constexpr auto idle_before_give_back = std::chrono::seconds(20);
inline constexpr auto time_between_looks = std::chrono::seconds(10);

}  // namespace polychron::msg
