// The bytes a context may hold: reserved before memory is allocated, returned when it is freed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace polychron::msg {

/// Counts bytes against a limit. Thread-safe: device actors reserve, whoever drops the last
/// reference to a slot returns.
class Budget {
 public:
  explicit Budget(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max())
      : limit_(limit) {}

  bool reserve(std::uint64_t bytes) noexcept {
    auto used = used_.load();
    do {
      if (bytes > limit_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    auto peak = peak_.load();
    while (peak < used + bytes && !peak_.compare_exchange_weak(peak, used + bytes)) {
    }
    return true;
  }
  void release(std::uint64_t bytes) noexcept { used_ -= bytes; }

  std::uint64_t limit() const noexcept { return limit_; }
  std::uint64_t used() const noexcept { return used_; }
  std::uint64_t peak() const noexcept { return peak_; }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0}, peak_{0};
};

/// Bytes taken from a budget until this goes. Movable; one owner.
class Reservation {
 public:
  Reservation() = default;
  /// nullopt if the budget has not so much left.
  static std::optional<Reservation> take(std::shared_ptr<Budget> budget, std::uint64_t bytes) {
    if (!budget->reserve(bytes)) return std::nullopt;
    return Reservation(std::move(budget), bytes);
  }
  Reservation(Reservation&& other) noexcept
      : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation&& other) noexcept {
    Reservation old(std::move(*this));
    budget_ = std::move(other.budget_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~Reservation() {
    if (budget_) budget_->release(bytes_);
  }

 private:
  Reservation(std::shared_ptr<Budget> budget, std::uint64_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {}
  std::shared_ptr<Budget> budget_;
  std::uint64_t bytes_ = 0;
};

}  // namespace polychron::msg
