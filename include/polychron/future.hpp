// Replies: a Future can be waited on, chained with a callback, or co_awaited.
#pragma once

#include <condition_variable>
#include <coroutine>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "polychron/result.hpp"

namespace polychron {

template <class T>
class Future;
template <class T>
class Promise;

namespace detail {

/// Marks a thread that is running a completion callback: there, waiting could never end.
class CallbackScope {
 public:
  CallbackScope() noexcept { ++depth_; }
  ~CallbackScope() { --depth_; }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;
  static bool active() noexcept { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

/// What a Promise and a Future share. Settled exactly once; the value is taken exactly once, by the
/// continuation or by get().
template <class T>
class FutureState {
 public:
  using Continuation = std::function<void(Result<T>)>;

  /// Settles, and wakes the waiter or runs the continuation on this thread. False if it was
  /// settled.
  bool settle(Result<T> result) {
    Continuation continuation;
    {
      const std::lock_guard lock(mutex_);
      if (settled_) return false;
      settled_ = true;
      if (!continuation_) {
        result_.emplace(std::move(result));
        // Under the lock: the waiter may free this state as soon as it has seen the result.
        ready_.notify_all();
        return true;
      }
      continuation = std::move(continuation_);
    }
    const CallbackScope scope;
    continuation(std::move(result));
    return true;
  }

  bool is_settled() const {
    const std::lock_guard lock(mutex_);
    return settled_;
  }

  void wait() const {
    std::unique_lock lock(mutex_);
    if (!settled_ && CallbackScope::active())
      throw Error(ErrorKind::invalid_state, "a completion callback must not wait for a future");
    ready_.wait(lock, [this] { return settled_; });
  }

  /// The result; waits for it.
  Result<T> take() {
    wait();
    return std::move(*result_);
  }

  /// Runs `continuation` at once if settled, else when that happens.
  void on_settled(Continuation continuation) {
    {
      const std::lock_guard lock(mutex_);
      if (!settled_) {
        continuation_ = std::move(continuation);
        return;
      }
    }
    continuation(std::move(*result_));
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ready_;
  bool settled_ = false;
  std::optional<Result<T>> result_;
  Continuation continuation_;
};

/// Says why promises are dropped without an answer, when that happens.
class Abandonment {
 public:
  virtual Error error() const = 0;

 protected:
  ~Abandonment() = default;
};

}  // namespace detail

/// A reply that is on its way. Movable, used once: by get(), by then(), or by co_await. Dropping it
/// is legal: the operation goes on and its reply is ignored. Always settles, whatever is destroyed,
/// lost or shut down meanwhile. Thread-safety: one thread at a time.
template <class T>
class [[nodiscard]] Future {
 public:
  using PromiseType = Promise<T>;  ///< the other end
  Future() = default;
  explicit Future(std::shared_ptr<detail::FutureState<T>> state) : state_(std::move(state)) {}

  /// False for a default-constructed, moved-from or used-up future.
  bool valid() const noexcept { return state_ != nullptr; }
  /// True once the reply is there: get() will not block.
  bool ready() const { return state().is_settled(); }
  /// Blocks until the reply is there. In a completion callback, where that could never happen, it
  /// throws invalid_state instead.
  void wait() const { state().wait(); }
  /// Waits for the value; throws Error if the call was rejected.
  T get() { return take().value(); }
  /// Waits for the value or the error.
  Result<T> take() {
    state();
    return std::exchange(state_, nullptr)->take();
  }

  /// Calls `continuation(Result<T>)` once: at once if the reply is there, else on the thread of the
  /// library that settles it. The callback must not block and must not throw; calling the library
  /// (also destroy()) is fine.
  template <class F>
  void then(F&& continuation) {
    state();
    std::exchange(state_, nullptr)->on_settled(std::forward<F>(continuation));
  }

  /// `co_await std::move(future)` gives the value or throws the Error, and resumes like then().
  auto operator co_await() && {
    struct Awaiter {
      std::shared_ptr<detail::FutureState<T>> state;
      bool await_ready() const { return state->is_settled(); }
      void await_suspend(std::coroutine_handle<> waiting) {
        // A copy keeps the state alive: the coroutine frame, and with it this awaiter, may be gone
        // before on_settled() returns.
        const auto keep = state;
        keep->on_settled([this, waiting](Result<T> r) {
          result.emplace(std::move(r));
          waiting.resume();
        });
      }
      T await_resume() { return result ? std::move(*result).value() : state->take().value(); }
      std::optional<Result<T>> result;
    };
    state();
    return Awaiter{std::exchange(state_, nullptr), std::nullopt};
  }

 private:
  detail::FutureState<T>& state() const {
    if (!state_) throw Error(ErrorKind::invalid_state, "this future is empty or was used already");
    return *state_;
  }
  std::shared_ptr<detail::FutureState<T>> state_;
};

/// The other end of a Future. Copyable, so that it can travel in messages; when the last copy goes
/// without having settled, the future is rejected: no reply can be forgotten. Thread-safe.
template <class T>
class Promise {
 public:
  /// Nobody waits: settling does nothing.
  Promise() = default;
  /// A promise with a future behind it. `abandonment`: what the future is rejected with if nobody
  /// answers; by default invalid_state.
  static Promise make(std::shared_ptr<const detail::Abandonment> abandonment = nullptr) {
    Promise promise;
    promise.core_ = std::make_shared<Core>();
    promise.core_->abandonment = std::move(abandonment);
    return promise;
  }

  /// The one future of this promise; only of one that make() made, and once.
  Future<T> future() const { return Future<T>(core_->state); }
  explicit operator bool() const noexcept { return core_ != nullptr; }

  /// Each returns true if this call settled it. resolve() takes the value; nothing for void.
  template <class... V>
  bool resolve(V&&... value) const {
    return settle(Result<T>(std::forward<V>(value)...));
  }
  bool reject(Error error) const { return settle(Result<T>(std::move(error))); }
  bool settle(Result<T> result) const { return core_ && core_->state->settle(std::move(result)); }

 private:
  struct Core {
    std::shared_ptr<detail::FutureState<T>> state = std::make_shared<detail::FutureState<T>>();
    std::shared_ptr<const detail::Abandonment> abandonment;
    ~Core() {
      if (state->is_settled()) return;
      state->settle(Result<T>(
          abandonment ? abandonment->error()
                      : Error(ErrorKind::invalid_state, "the promise of this reply was dropped")));
    }
  };
  std::shared_ptr<Core> core_;
};

namespace detail {
/// A future of type F that is rejected with `error`.
template <class F>
F rejected(const Error& error) {
  const auto promise = F::PromiseType::make();
  auto future = promise.future();
  promise.reject(error);
  return future;
}
}  // namespace detail

}  // namespace polychron
