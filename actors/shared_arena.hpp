// The scratch memory of a lane, which its graphs share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "kernels/backend.hpp"
#include "messages/reserve.hpp"

namespace polychron::actors {

/// As large as the largest plan that ran on the lane lately. The instances own it, so that it goes
/// with the last of them. Only the lane uses it.
class SharedArena : public kernels::LaneArena {
 public:
  /// Gives it room for a plan that is about to run. The content is lost. Returns out_of_memory, or
  /// throws it, and then it has no room.
  Result<void> fit(const std::shared_ptr<msg::Budget>& budget, std::size_t plan) {
    largest_ = std::max(largest_, plan);
    const bool may_shrink = ++runs_ == lately;
    const auto wanted = may_shrink ? largest_ : std::max(plan, bytes.size());
    if (may_shrink) runs_ = 0, largest_ = plan;
    if (wanted == bytes.size()) return {};
    // The old memory goes first: there is never room for both.
    bytes = Buffer();
    reserved_ = {};
    auto reservation = msg::reserve(budget, wanted);
    if (!reservation) return reservation.error();
    bytes = Buffer::uninitialized(wanted);
    reserved_ = std::move(*reservation);
    return {};
  }

 private:
  /// After this many runs the arena shrinks to what they needed.
  static constexpr int lately = 256;
  msg::Reservation reserved_;
  std::size_t largest_ = 0;
  int runs_ = 0;
};

}  // namespace polychron::actors
