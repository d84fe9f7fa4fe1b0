// Where users' code runs: the callbacks of a runtime, apart from all threads that its actors need.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "messages/shared/once.hpp"
#include "polychron/future.hpp"

namespace polychron::detail {

/// Callbacks in order. Linked through themselves: adding one allocates nothing.
class DeferredQueue {
 public:
  DeferredQueue() = default;
  DeferredQueue(const DeferredQueue&) = delete;
  DeferredQueue& operator=(const DeferredQueue&) = delete;
  ~DeferredQueue() {
    while (pop()) {
    }
  }
  void push(std::shared_ptr<Deferred> callback) noexcept {
    auto* const last = callback.get();
    (last_ == nullptr ? first_ : last_->next_) = std::move(callback);
    last_ = last;
  }
  bool empty() const noexcept { return last_ == nullptr; }
  /// Null if there is none.
  std::shared_ptr<Deferred> pop() noexcept {
    auto callback = std::move(first_);
    if (!callback) return nullptr;
    first_ = std::move(callback->next_);
    if (!first_) last_ = nullptr;
    return callback;
  }

 private:
  std::shared_ptr<Deferred> first_;
  Deferred* last_ = nullptr;
};

}  // namespace polychron::detail

namespace polychron::msg {

/// Runs callbacks one after the other, in the order in which they were posted. They run on a thread
/// of its own, or wherever the embedder's executor runs them. Their exceptions are counted and
/// handed to the embedder. Written by any thread that settles a reply, read by its thread.
/// Thread-safe.
class Callbacks : public std::enable_shared_from_this<Callbacks> {
 public:
  using Executor = std::function<void(std::function<void()>)>;
  using ExceptionHandler = std::function<void(std::exception_ptr)>;

  /// With an empty `executor` it starts a thread; throws std::system_error if there is none.
  static std::shared_ptr<Callbacks> start(Executor executor, ExceptionHandler on_exception);
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;
  ~Callbacks();

  /// Makes `callback` run. If the executor throws, it runs on a thread of the library instead,
  /// which starts when it is first needed. Without that thread, as after stop(), it runs on this
  /// thread.
  void post(std::shared_ptr<polychron::detail::Deferred> callback) noexcept;
  /// Blocks until the thread has run everything that was posted, or for `patience`. True if it has;
  /// what went to an executor is not waited for.
  bool wait_until_idle(std::chrono::nanoseconds patience);
  /// Ends the thread once it has run what was posted; in a callback, when that returns.
  void stop();

  /// Callbacks that threw.
  std::uint64_t exceptions() const noexcept { return exceptions_; }
  /// True if some runtime's callbacks run on this thread.
  static bool on_its_thread() noexcept;

 private:
  Callbacks(Executor executor, ExceptionHandler on_exception)
      : executor_(std::move(executor)), on_exception_(std::move(on_exception)) {}
  void serve();
  /// To the executor: false if that did not take it.
  bool hand_over(const std::shared_ptr<polychron::detail::Deferred>& callback) noexcept;
  /// True if there is a thread; starts it if there is none. Under the lock.
  bool have_thread() noexcept;
  void run(polychron::detail::Deferred& callback) noexcept;

  const Executor executor_;
  const ExceptionHandler on_exception_;
  std::atomic<std::uint64_t> exceptions_{0};
  std::mutex mutex_;
  std::condition_variable posted_, idle_;
  polychron::detail::DeferredQueue queue_;
  bool running_ = false, stopped_ = false;
  std::thread thread_;
};

}  // namespace polychron::msg
