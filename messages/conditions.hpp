// On what condition an operation starts, when its turn has come.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace polychron::msg {

using Clock = std::chrono::steady_clock;
/// Where the actors of a context take the time from.
using Now = std::function<Clock::time_point()>;

/// A deadline, and a flag that the caller can set; both act only before the operation has started.
struct Conditions {
  std::optional<Clock::time_point> deadline;
  std::shared_ptr<const std::atomic<bool>> cancelled;
};

}  // namespace polychron::msg
