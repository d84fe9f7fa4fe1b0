// The explorer's machine: what actors/engine/platform.hpp is on real threads, except for the jobs.
// It is sequentially consistent: weaker orders of memory are not explored.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

#include "tests/engine/explorer.hpp"

namespace testing::exploring {

struct Model {
  using Time = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
  static Time now() { return Time(std::chrono::nanoseconds(Explorer::here().now())); }

  class Mutex {
   public:
    void lock() {
      Explorer::here().point();
      while (locked_) Explorer::here().block(this);
      locked_ = true;
    }
    bool try_lock() {
      Explorer::here().point();
      return !std::exchange(locked_, true);
    }
    void unlock() {
      locked_ = false;
      Explorer::here().wake_all(this);
    }

   private:
    bool locked_ = false;
  };

  class Condition {
   public:
    void wait(std::unique_lock<Mutex>& lock) { sleep(lock, {}); }
    template <class Ready>
    void wait(std::unique_lock<Mutex>& lock, Ready ready) {
      while (!ready()) wait(lock);
    }
    void wait_until(std::unique_lock<Mutex>& lock, Time until) {
      sleep(lock, until.time_since_epoch().count());
    }
    void notify_one() {
      Explorer::here().point();
      Explorer::here().wake_one(this);
    }
    void notify_all() {
      Explorer::here().point();
      Explorer::here().wake_all(this);
    }

   private:
    void sleep(std::unique_lock<Mutex>& lock, std::optional<Nanoseconds> deadline) {
      lock.unlock();
      Explorer::here().block(this, deadline);
      lock.lock();
    }
  };

  class Flag {
   public:
    explicit Flag(bool value) : value_(value) {}
    bool load(std::memory_order = std::memory_order_seq_cst) const {
      Explorer::here().point();
      return value_;
    }
    void store(bool value, std::memory_order = std::memory_order_seq_cst) {
      Explorer::here().point();
      value_ = value;
    }

   private:
    bool value_;
  };

  template <class T>
  class Atomic {
   public:
    explicit Atomic(T value) : value_(value) {}
    T load() const {
      Explorer::here().point();
      return value_;
    }
    void store(T value) { exchange(value); }
    T exchange(T value) {
      Explorer::here().point();
      return std::exchange(value_, value);
    }
    T fetch_add(T by) { return exchange_by(by); }
    T fetch_sub(T by) { return exchange_by(-by); }
    bool compare_exchange_weak(T& expected, T value) {
      Explorer::here().point();
      if (value_ != expected) {
        expected = value_;
        return false;
      }
      value_ = value;
      return true;
    }
    void wait(T value) const {
      Explorer::here().point();
      while (value_ == value) Explorer::here().block(this);
    }
    void notify_one() {
      Explorer::here().point();
      Explorer::here().wake_one(this);
    }

   private:
    T exchange_by(T by) {
      Explorer::here().point();
      return std::exchange(value_, value_ + by);
    }
    T value_;
  };

  /// A caller spins once.
  class Spin {
   public:
    bool again() {
      Explorer::here().yield();
      return !std::exchange(spun_, true);
    }

   private:
    bool spun_ = false;
  };
};

}  // namespace testing::exploring
