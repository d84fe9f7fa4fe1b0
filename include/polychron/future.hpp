// Replies: a caller can wait for a Future, chain a callback, or co_await it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "polychron/deferred.hpp"
#include "polychron/process.hpp"
#include "polychron/result.hpp"

namespace polychron {

template <class T>
class Future;
template <class T>
class Promise;

namespace detail {

/// The error of a dropped promise without a runtime. Made early, as a drop must not allocate.
const Error& dropped_error() noexcept;

/// The context or runtime behind a promise.
class Origin {
 public:
  /// The error that rejects an unanswered promise.
  virtual Error error() const noexcept = 0;
  /// Runs a callback where the runtime runs callbacks.
  virtual void post(std::shared_ptr<Deferred> callback) const noexcept = 0;

  /// A reply's callback begins to wait for the callback thread; that thread has taken it.
  virtual void waits() const noexcept {}
  virtual void taken() const noexcept {}

  /// The outcome of help(), for a thread that is about to wait.
  enum class Help : std::uint8_t {
    none,   ///< nothing to do: the thread sleeps until the reply settles
    moved,  ///< the thread did some work: it checks again
    stuck   ///< no other thread can run, and there is nothing to do
  };
  /// Caller runs: executes pending jobs until `settled`, or until none is left. In a simulated
  /// world, which has one thread, it makes one step.
  virtual Help help(const std::atomic<bool>& /*settled*/) const { return Help::none; }

  /// A thread begins to wait for a reply. It passes the result on when it has waited.
  virtual std::int64_t begins_wait() const noexcept { return 0; }
  virtual void ends_wait(std::int64_t /*begun*/) const noexcept {}

  /// True in a child forked since it was made. Only error() may be called there.
  bool forked() const noexcept { return process_.forked(); }

 protected:
  ~Origin() = default;

 private:
  const Process process_;
};

/// The state that a Promise and a Future share. It is settled exactly once, and its value is taken
/// exactly once: by the continuation or by get().
template <class T>
class FutureState final : public Deferred, public std::enable_shared_from_this<FutureState<T>> {
 public:
  using Continuation = std::function<void(Result<T>)>;
  /// A reply that is made in a forked child has no origin: its parent's must not be asked for
  /// anything.
  explicit FutureState(std::shared_ptr<const Origin> origin)
      : origin_(origin && origin->forked() ? nullptr : std::move(origin)) {}

  /// Settles; wakes the waiter or starts the continuation. False if already settled. Relays, and
  /// the continuations of promises without an origin, run here; a user's go to the origin.
  bool settle(Result<T> result) {
    {
      const std::lock_guard lock(mutex_);
      if (settled_) return false;
      result_.emplace(std::move(result));
      settled_ = true;
      if (!continuation_) {
        // Under the lock, as the waiter may free this state once it has seen the result.
        ready_.notify_all();
        return true;
      }
    }
    go_on();
    return true;
  }

  bool is_settled() const {
    process_.check();
    const std::lock_guard lock(mutex_);
    return settled_;
  }

  void wait() const {
    process_.check();
    const Wait wait(settled_ ? nullptr : origin_.get());
    // Also if settled: the origin may record each wait.
    for (bool first = true; origin_ && (first || !settled_); first = false) {
      const auto help = origin_->help(settled_);
      if (help == Origin::Help::none) break;
      if (help == Origin::Help::stuck && !settled_)
        throw Error(ErrorKind::invalid_state,
                    "this future can never be settled: no other thread can run");
    }
    // Always take the lock: the settling thread is done with this state once it unlocks.
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return settled_.load(); });
  }

  /// Runs what a waiting thread would run, and returns. True if this is settled.
  bool help() const {
    process_.check();
    if (origin_ && !settled_) origin_->help(settled_);
    return settled_;
  }

  /// Waits for the result.
  Result<T> take() {
    wait();
    return std::move(*result_);
  }

  /// Runs `continuation` once this is settled. A `relay` is the library's own: it runs at once on
  /// the settling thread and must not throw.
  void on_settled(Continuation continuation, bool relay = false) {
    process_.check();
    {
      const std::lock_guard lock(mutex_);
      continuation_ = std::move(continuation);
      relay_ = relay;
      if (!settled_) return;
    }
    go_on();
  }

  void run() override { std::exchange(continuation_, nullptr)(std::move(*result_)); }
  const Origin* origin_of_reply() const noexcept override { return origin_.get(); }

  const std::shared_ptr<const Origin>& origin() const noexcept { return origin_; }
  /// True if a continuation waits for the result.
  bool chained() const noexcept {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(continuation_);
  }

 private:
  /// Tells the origin of a wait, if there is one, while it lives.
  class Wait {
   public:
    explicit Wait(const Origin* origin) noexcept
        : origin_(origin), begun_(origin == nullptr ? 0 : origin->begins_wait()) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() {
      if (origin_ != nullptr) origin_->ends_wait(begun_);
    }

   private:
    const Origin* const origin_;
    const std::int64_t begun_;
  };
  void go_on() {
    if (relay_ || !origin_)
      run();
    else
      origin_->post(this->shared_from_this());
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable ready_;
  std::atomic<bool> settled_{false};  ///< written under the lock
  bool relay_ = false;
  const Process process_;
  std::optional<Result<T>> result_;
  Continuation continuation_;
  const std::shared_ptr<const Origin> origin_;
};

struct FutureAccess;

}  // namespace detail

/// A pending reply. Movable; used once: by get(), take(), then() or co_await. Dropping it is legal:
/// the operation goes on and its reply is ignored. It always settles, even if its object is
/// destroyed or lost. Thread-safety: one thread at a time. In a forked child every use throws
/// invalid_state.
template <class T>
class [[nodiscard]] Future {
 public:
  using ValueType = T;             ///< the type of the value
  using PromiseType = Promise<T>;  ///< the other end
  /// A future without a reply: every use throws invalid_state.
  Future() = default;
  /// For the library only; callers use Promise::future().
  explicit Future(std::shared_ptr<detail::FutureState<T>> state) : state_(std::move(state)) {}

  /// False for a default-constructed, moved-from or used-up future.
  bool valid() const noexcept { return state_ != nullptr; }
  /// True once the reply is there: get() will not block.
  bool ready() const { return state().is_settled(); }
  /// Blocks until the reply is there; may run some of the context's work meanwhile
  /// (RuntimeOptions::helping). Safe on any thread, also in a callback.
  void wait() const { state().wait(); }
  /// Runs the short jobs that the reply depends on, as wait() would, but never blocks: for an event
  /// loop, which would otherwise sleep until another thread has run them. True once the reply is
  /// there. Takes up to 20 us if there is nothing to run.
  bool help() const { return state().help(); }
  /// Waits for the value; throws Error if the call was rejected.
  T get() { return take().value(); }
  /// Waits for the value or the error.
  Result<T> take() {
    state();
    return std::exchange(state_, nullptr)->take();
  }

  /// Calls `continuation(Result<T>)` once, where the runtime runs callbacks (RuntimeOptions): never
  /// inside then(), never on a thread that the library's own work needs. It may call the library,
  /// wait, and throw (RuntimeOptions::on_callback_exception). Without a running runtime (default-
  /// constructed handle, own Promise, ended runtime) it runs at once, or on the settling thread.
  /// Throws invalid_state, and out_of_memory, after which the future can still be used.
  template <class F>
  void then(F&& continuation) {
    state();
    auto callback = detail::with_errors([&] {
      return typename detail::FutureState<T>::Continuation(std::forward<F>(continuation));
    });
    std::exchange(state_, nullptr)->on_settled(std::move(callback));
  }

  /// `co_await std::move(future)` gives the value or throws the Error. It resumes where then()
  /// calls back, or goes on at once if the reply is there.
  auto operator co_await() && {
    struct Awaiter {
      std::shared_ptr<detail::FutureState<T>> state;
      bool await_ready() const { return state->is_settled(); }
      void await_suspend(std::coroutine_handle<> waiting) {
        // The copy keeps the state alive: the coroutine frame with this awaiter may be gone before
        // on_settled() returns.
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
  friend struct detail::FutureAccess;
  detail::FutureState<T>& state() const {
    if (!state_)
      detail::refuse(ErrorKind::invalid_state, "this future is empty or was used already");
    return *state_;
  }
  std::shared_ptr<detail::FutureState<T>> state_;
};

/// The producing end of a Future. Copyable, so that it can travel in messages. Dropping the last
/// copy unsettled rejects the future, so that no reply is forgotten. Thread-safe.
template <class T>
class Promise {
 public:
  /// A caller's own promise: its future is rejected with invalid_state if it is never settled.
  /// Throws out_of_memory.
  Promise() : Promise(detail::with_errors([] { return make(); })) {}
  /// A promise without a future: settling does nothing.
  explicit Promise(std::nullptr_t) noexcept {}
  /// For the library. `origin` supplies the error of an unanswered promise, and runs the callbacks.
  static Promise make(std::shared_ptr<const detail::Origin> origin = nullptr) {
    Promise promise(nullptr);
    promise.core_ = std::make_shared<Core>(std::move(origin));
    return promise;
  }

  /// The future of this promise; call it once. Throws invalid_state if there is none.
  Future<T> future() const {
    if (!core_) detail::refuse(ErrorKind::invalid_state, "this promise was made without a future");
    return Future<T>(core_->state);
  }
  /// False for a promise made from nullptr or moved from.
  explicit operator bool() const noexcept { return core_ != nullptr; }

  /// Settles with a value constructed from `value` (none for void). True if this call did it.
  template <class... V>
  bool resolve(V&&... value) const {
    return settle(Result<T>(std::forward<V>(value)...));
  }
  /// Settles with an error. True if this call did it.
  bool reject(Error error) const { return settle(Result<T>(std::move(error))); }
  /// Settles with a value or an error. True if this call did it; false in a child forked since the
  /// promise was made.
  bool settle(Result<T> result) const {
    return core_ && !core_->process.forked() && core_->state->settle(std::move(result));
  }
  /// True if no future or continuation can receive the reply.
  bool unheard() const noexcept {
    return !core_ || (core_->state.use_count() == 1 && !core_->state->chained());
  }

 private:
  struct Core {
    explicit Core(std::shared_ptr<const detail::Origin> origin)
        : state(std::make_shared<detail::FutureState<T>>(std::move(origin))) {}
    const std::shared_ptr<detail::FutureState<T>> state;
    ~Core() {
      if (process.forked()) return;  // there is no receiver
      const auto& origin = state->origin();
      if (state->is_settled()) return;
      state->settle(Result<T>(origin ? origin->error() : Error(detail::dropped_error())));
    }
    const detail::Process process;
  };
  std::shared_ptr<Core> core_;
};

namespace detail {

/// For the library's own continuations, which only pass on the result.
struct FutureAccess {
  template <class T, class F>
  static void relay(Future<T> future, F&& continuation) {
    future.state();
    std::exchange(future.state_, nullptr)->on_settled(std::forward<F>(continuation), true);
  }

  /// Where the callbacks of `future` run.
  template <class T>
  static std::shared_ptr<const Origin> origin(const Future<T>& future) {
    return future.state().origin();
  }

  /// A future of `f(Result<T>)`, or of the Error that `f` throws. `f` runs at once on the settling
  /// thread; callbacks of the new future run where those of `future` would.
  template <class U, class T, class F>
  static Future<U> transform(Future<T> future, F f) {
    const auto promise = Promise<U>::make(future.state().origin());
    auto made = promise.future();
    relay(std::move(future), [promise, f = std::move(f)](Result<T> result) mutable {
      try {
        promise.resolve(f(std::move(result)));
      } catch (const Error& error) {
        promise.reject(error);
      } catch (...) {  // no memory to report anything else
        promise.reject(out_of_memory_error());
      }
    });
    return made;
  }

  /// Resolves when all of `futures` have; rejects with the first error. `futures` must not be
  /// empty.
  template <class T>
  static Future<void> all(std::vector<Future<T>> futures) {
    struct Joint {
      explicit Joint(Promise<void> own) : promise(std::move(own)) {}
      Joint(const Joint&) = delete;
      Joint& operator=(const Joint&) = delete;
      Promise<void> promise;
      ~Joint() { promise.resolve(); }
    };
    const auto joint =
        std::make_shared<Joint>(Promise<void>::make(futures.front().state().origin()));
    auto future = joint->promise.future();
    for (auto& each : futures)
      relay(std::move(each), [joint](Result<T> result) {
        if (!result) joint->promise.reject(result.error());
      });
    return future;
  }
};

/// A future of type F that is rejected with `error`.
template <class F>
F rejected(const Error& error, std::shared_ptr<const Origin> origin = nullptr) {
  const auto promise = F::PromiseType::make(std::move(origin));
  auto future = promise.future();
  promise.reject(error);
  return future;
}

}  // namespace detail

}  // namespace polychron
