// The bytes a context may hold: reserved before memory is allocated, returned when it is freed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "kernels/constants.hpp"

namespace polychron::msg {

/// Counts bytes against a limit. Thread-safe: device actors reserve, and the thread that drops the
/// last reference to a slot returns.
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

  /// Takes `own` bytes, and those of the constants that nobody holds yet. Throws std::bad_alloc,
  /// and then has taken nothing.
  bool reserve(std::uint64_t own, std::span<const ops::ConstantBytes> constants) {
    const std::lock_guard lock(mutex_);
    for (const auto& constant : constants) holders_.try_emplace(kernels::place_of(*constant));
    for (const auto& constant : constants)
      if (holders_[kernels::place_of(*constant)]++ == 0) own += constant->size();
    if (reserve(own)) return true;
    for (const auto& constant : constants) drop(*constant);
    return false;
  }
  /// The same bytes of its own, and constants, that it has taken.
  void release(std::uint64_t own, std::span<const ops::ConstantBytes> constants) noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& constant : constants)
      if (drop(*constant)) own += constant->size();
    release(own);
  }

  std::uint64_t limit() const noexcept { return limit_; }
  std::uint64_t used() const noexcept { return used_; }
  std::uint64_t peak() const noexcept { return peak_; }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0}, peak_{0};
  std::mutex mutex_;
  std::map<kernels::ConstantPlace, std::size_t> holders_;  ///< of each constant: reservations

  /// Drops one holder. True if it was the last.
  bool drop(const Buffer& constant) noexcept {
    const auto place = holders_.find(kernels::place_of(constant));
    if (place == holders_.end() || --place->second > 0) return false;
    holders_.erase(place);
    return true;
  }
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

/// The share of a plan's constants in a budget, until this goes. Constants that others of the
/// budget hold as well are counted once. Movable; one owner.
class ConstantsReservation {
 public:
  ConstantsReservation() = default;
  /// `own` bytes, and `shared` constants. False if the budget has not so much left.
  static std::optional<ConstantsReservation> take(std::shared_ptr<Budget> budget, std::uint64_t own,
                                                  kernels::Constants shared) {
    if (!budget->reserve(own, shared)) return std::nullopt;
    ConstantsReservation taken;
    taken.budget_ = std::move(budget);
    taken.own_ = own;
    taken.shared_ = std::move(shared);
    return taken;
  }
  ConstantsReservation(ConstantsReservation&& other) noexcept { *this = std::move(other); }
  ConstantsReservation& operator=(ConstantsReservation&& other) noexcept {
    if (budget_) budget_->release(own_, shared_);
    budget_ = std::exchange(other.budget_, nullptr);
    own_ = std::exchange(other.own_, 0);
    shared_ = std::exchange(other.shared_, {});
    return *this;
  }
  ~ConstantsReservation() {
    if (budget_) budget_->release(own_, shared_);
  }

 private:
  std::shared_ptr<Budget> budget_;
  std::uint64_t own_ = 0;
  kernels::Constants shared_;
};

}  // namespace polychron::msg
