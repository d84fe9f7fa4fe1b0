// Replies: what Python waits for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "process.hpp"

namespace binding {

/// Wakes an event loop once for all replies that are due, by a file descriptor: the thread that
/// settles a reply never takes the GIL.
class Waker {
 public:
  Waker();
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  int descriptor() const noexcept { return descriptor_; }
  /// Makes room for a token to come. Throws std::bad_alloc.
  void expect();
  /// An expected token. Any thread.
  void post(std::uint64_t token) noexcept;
  /// The tokens that were posted since the last call.
  std::vector<std::uint64_t> take();

 private:
  const int descriptor_;
  std::mutex mutex_;
  std::size_t expected_ = 0;
  std::vector<std::uint64_t> due_;  ///< with room for what is expected
};

/// What a reply shares with the library's callback. It has no Python objects, as any thread may
/// drop it. All methods, except settled(), run without the GIL.
class Settling {
 public:
  virtual ~Settling() = default;
  /// Runs the short jobs that the reply depends on, if it `helps`. Otherwise the callback settles
  /// it.
  void start(bool helps);
  /// True once it is settled. After start().
  bool wait_until(std::chrono::steady_clock::time_point latest);
  /// Posts `token` once it is settled, or now.
  void watch(std::shared_ptr<Waker> waker, std::uint64_t token);
  bool settled();

 protected:
  virtual bool help() = 0;
  virtual void chain() = 0;
  /// The result is there.
  void settle() noexcept;

 private:
  void check() const;
  const unsigned made_ = generation();
  std::mutex starting_;
  bool started_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool settled_ = false;
  std::vector<std::pair<std::shared_ptr<Waker>, std::uint64_t>> watchers_;
};

template <class T>
class SettlingOf final : public Settling, public std::enable_shared_from_this<SettlingOf<T>> {
 public:
  explicit SettlingOf(polychron::Future<T> future) : future_(std::move(future)) {}
  /// Once it is settled.
  polychron::Result<T>& result() { return *result_; }

 protected:
  bool help() override {
    if (!future_.help()) return false;
    result_.emplace(future_.take());
    return true;
  }
  void chain() override {
    future_.then([self = this->shared_from_this()](polychron::Result<T> result) {
      self->result_.emplace(std::move(result));
      self->settle();
    });
  }

 private:
  polychron::Future<T> future_;
  std::optional<polychron::Result<T>> result_;
};

/// A reply as Python has it: _replies.py gives it `await` and `result()`.
class Pending {
 public:
  Pending(std::shared_ptr<Settling> settling, std::optional<polychron::Cancellation> cancellation)
      : settling_(std::move(settling)), cancellation_(std::move(cancellation)) {}
  virtual ~Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  /// True if the reply is there.
  bool settled() { return settling_->settled(); }
  /// The same; runs short jobs that it depends on. Beside busy cores that may take a time slice.
  bool ready();
  /// Waits that many seconds, or for ever. False if the time is over. A signal ends the wait.
  bool wait(std::optional<double> seconds);
  void watch(std::shared_ptr<Waker> waker, std::uint64_t token);
  /// Skips the operation if it has not started.
  void cancel() noexcept;
  /// The value of a settled reply; throws its error.
  nb::object value();
  /// Waits for it.
  nb::object waited() { return wait({}), value(); }

 protected:
  virtual nb::object convert() = 0;

 private:
  std::shared_ptr<Settling> settling_;
  std::optional<polychron::Cancellation> cancellation_;
  nb::object value_;
};

template <class T, class F>
class PendingOf final : public Pending {
 public:
  PendingOf(std::shared_ptr<SettlingOf<T>> settling, F convert,
            std::optional<polychron::Cancellation> cancellation)
      : Pending(settling, std::move(cancellation)),
        typed_(std::move(settling)),
        convert_(std::move(convert)) {}

 protected:
  nb::object convert() override {
    auto& result = typed_->result();
    if (!result) throw polychron::Error(result.error());
    if constexpr (std::is_void_v<T>)
      return convert_();
    else
      return convert_(std::move(result).value());
  }

 private:
  std::shared_ptr<SettlingOf<T>> typed_;
  F convert_;
};

/// A reply of `future`. `convert` makes its value, with the GIL.
template <class T, class F>
std::unique_ptr<Pending> reply(polychron::Future<T> future, F convert,
                               std::optional<polychron::Cancellation> cancellation = {}) {
  return std::make_unique<PendingOf<T, F>>(std::make_shared<SettlingOf<T>>(std::move(future)),
                                           std::move(convert), std::move(cancellation));
}

void bind_replies(nb::module_& module);

}  // namespace binding
