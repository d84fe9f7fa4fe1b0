// Replies: a Future can be waited on, chained with a callback, or co_awaited.
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

#include "polychron/result.hpp"

/// g++ 12, Debian 12's, makes wrong code of aggregates that are made within a co_await: the label
/// of `co_await f({.label = "x"})` is destroyed twice. There such calls give a FutureOfBraces,
/// which does not compile in that place; future_of() makes one that does. (g++ 13 was not tried.)
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#define POLYCHRON_NO_BRACES_IN_CO_AWAIT 1
#endif

namespace polychron {

template <class T>
class Future;
template <class T>
class Promise;

namespace detail {

/// Counts the forks between the start of the program and this process. A runtime's threads do not
/// come along into a child: there, whatever was made before the fork must refuse, not wait.
std::uint32_t fork_generation() noexcept;
/// What calls on things from before a fork report.
Error forked_error();
/// Of a promise without a runtime that is dropped. Made early: that must not need memory.
const Error& dropped_error() noexcept;
class Origin;

/// User's code on its way to the thread that runs it. Linked by the queue that it waits in, so that
/// handing it over cannot fail.
class Deferred {
 public:
  virtual ~Deferred() = default;
  /// Runs the user's code, once; what that throws comes out.
  virtual void run() = 0;
  /// Whose backlog it is part of while it waits for the thread that runs callbacks; null: nobody's.
  virtual const Origin* origin_of_reply() const noexcept { return nullptr; }

 private:
  friend class DeferredQueue;
  std::shared_ptr<Deferred> next_;
};

/// What stands behind the promises of a context or a runtime.
class Origin {
 public:
  /// What an unanswered promise is rejected with.
  virtual Error error() const noexcept = 0;
  /// Runs a callback where the runtime runs callbacks.
  virtual void post(std::shared_ptr<Deferred> callback) const noexcept = 0;

  /// The callback of a reply begins to wait for the thread that runs callbacks, and has been taken.
  virtual void waits() const noexcept {}
  virtual void taken() const noexcept {}

  /// What a thread that is about to wait may do instead.
  enum class Help : std::uint8_t {
    none,   ///< nothing: it sleeps until somebody settles
    moved,  ///< it did something: it looks again
    stuck   ///< it is the only one who could do anything, and there is nothing to do
  };
  /// Works for whoever settles, until `settled` or until there is nothing to do; in a world that a
  /// test drives, where there is one thread, makes a step of it.
  virtual Help help(const std::atomic<bool>& /*settled*/) const { return Help::none; }

 protected:
  ~Origin() = default;
};

/// What a Promise and a Future share. Settled exactly once; the value is taken exactly once, by the
/// continuation or by get().
template <class T>
class FutureState final : public Deferred, public std::enable_shared_from_this<FutureState<T>> {
 public:
  using Continuation = std::function<void(Result<T>)>;
  explicit FutureState(std::shared_ptr<const Origin> origin) : origin_(std::move(origin)) {}

  /// Settles; wakes the waiter, or sees to the continuation. False if it was settled. The library's
  /// own continuations and those of promises without an origin run here; a user's go to the origin.
  bool settle(Result<T> result) {
    {
      const std::lock_guard lock(mutex_);
      if (settled_) return false;
      result_.emplace(std::move(result));
      settled_ = true;
      if (!continuation_) {
        // Under the lock: the waiter may free this state as soon as it has seen the result.
        ready_.notify_all();
        return true;
      }
    }
    go_on();
    return true;
  }

  bool is_settled() const {
    check_process();
    const std::lock_guard lock(mutex_);
    return settled_;
  }

  void wait() const {
    check_process();
    // Also if it is settled: somebody may want to know who waits, and when.
    for (bool first = true; origin_ && (first || !settled_); first = false) {
      const auto help = origin_->help(settled_);
      if (help == Origin::Help::none) break;
      if (help == Origin::Help::stuck && !settled_)
        throw Error(ErrorKind::invalid_state, "nothing in this world will ever settle it");
    }
    // In any case: whoever settles has let go of this state when it has let go of the lock.
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return settled_.load(); });
  }

  /// The result; waits for it.
  Result<T> take() {
    wait();
    return std::move(*result_);
  }

  /// Runs `continuation` once this is settled. `relay`: the library's own, which runs at once on
  /// the thread that settles and must not throw.
  void on_settled(Continuation continuation, bool relay = false) {
    check_process();
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
  /// Whether a continuation waits for this to be settled.
  bool chained() const noexcept {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(continuation_);
  }

 private:
  void go_on() {
    if (relay_ || !origin_)
      run();
    else
      origin_->post(this->shared_from_this());
  }
  void check_process() const {
    if (generation_ != fork_generation()) throw Error(forked_error());
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable ready_;
  std::atomic<bool> settled_{false};  ///< written under the lock
  bool relay_ = false;
  const std::uint32_t generation_ = fork_generation();
  std::optional<Result<T>> result_;
  Continuation continuation_;
  const std::shared_ptr<const Origin> origin_;
};

struct FutureAccess;

}  // namespace detail

/// A reply that is on its way. Movable, used once: by get(), by then(), or by co_await. Dropping it
/// is legal: the operation goes on and its reply is ignored. Always settles, whatever is destroyed,
/// lost or shut down meanwhile. Thread-safety: one thread at a time. In a process that was forked
/// from the runtime's, every use throws invalid_state.
template <class T>
class [[nodiscard]] Future {
 public:
  using ValueType = T;             ///< what it gives
  using PromiseType = Promise<T>;  ///< the other end
  /// Of no reply: every use throws invalid_state.
  Future() = default;
  /// The library's own way to make one; others have Promise::future().
  explicit Future(std::shared_ptr<detail::FutureState<T>> state) : state_(std::move(state)) {}

  /// False for a default-constructed, moved-from or used-up future.
  bool valid() const noexcept { return state_ != nullptr; }
  /// True once the reply is there: get() will not block.
  bool ready() const { return state().is_settled(); }
  /// Blocks until the reply is there, and may do some of the work for it meanwhile
  /// (RuntimeOptions::helping). Safe on any thread, also in a callback.
  void wait() const { state().wait(); }
  /// Waits for the value; throws Error if the call was rejected.
  T get() { return take().value(); }
  /// Waits for the value or the error.
  Result<T> take() {
    state();
    return std::exchange(state_, nullptr)->take();
  }

  /// Calls `continuation(Result<T>)` once, where the runtime runs callbacks (RuntimeOptions):
  /// never in here, also if the reply is there, and never on a thread that the library's own work
  /// needs. It may call the library, wait, and throw (RuntimeOptions::on_callback_exception). Only
  /// a future without a running runtime (of a default-constructed handle, of a promise of one's
  /// own, or of a runtime that has ended) runs it on the thread that settles it, or at once.
  template <class F>
  void then(F&& continuation) {
    state();
    std::exchange(state_, nullptr)->on_settled(std::forward<F>(continuation));
  }

  /// `co_await std::move(future)` gives the value or throws the Error; resumes like then(), or goes
  /// on at once if the reply is there.
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
  friend struct detail::FutureAccess;
  detail::FutureState<T>& state() const {
    if (!state_) throw Error(ErrorKind::invalid_state, "this future is empty or was used already");
    return *state_;
  }
  std::shared_ptr<detail::FutureState<T>> state_;
};

#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
/// A Future whose call was given options or a descriptor in braces, or std::move()d. Everything
/// that a Future is, but for `co_await call({...})`: write `co_await future_of([&] { return
/// call({...}); })`, or give the braces a name.
template <class T>
class [[nodiscard]] FutureOfBraces : public Future<T> {
 public:
  FutureOfBraces(Future<T>&& future) noexcept : Future<T>(std::move(future)) {}
  /// This compiler would make wrong code of the braces in here: see future_of().
  void operator co_await() && = delete;
};
#endif

/// The future that `call`, a lambda, returns: `co_await future_of([&] { return
/// builder.build({{"y", builder.mul(x, x, {.label = "square"})}}, {.label = "graph"}); })`. Braces
/// of any kind, also within arguments, are as good in there as outside of coroutines, with every
/// compiler (g++ 12 makes wrong code of them in a co_await, or none). With g++ 12 a lambda that is
/// written in the call holds references and plain values only. Throws what `call` throws.
template <class F>
requires requires { typename std::remove_cvref_t<std::invoke_result_t<F>>::ValueType; }
auto future_of(F&& call) {
#ifdef POLYCHRON_NO_BRACES_IN_CO_AWAIT
  static_assert(std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<F>,
                "this compiler destroys what the lambda holds twice: capture by reference");
#endif
  auto future = std::forward<F>(call)();
  return Future<typename decltype(future)::ValueType>(std::move(future));
}

/// The other end of a Future. Copyable, so that it can travel in messages; when the last copy goes
/// without having settled, the future is rejected: no reply can be forgotten. Thread-safe.
template <class T>
class Promise {
 public:
  /// A promise of one's own: its future is rejected with invalid_state if nobody answers.
  Promise() : Promise(make()) {}
  /// Nobody waits: settling does nothing.
  explicit Promise(std::nullptr_t) noexcept {}
  /// The library's own. `origin`: what the future is rejected with if nobody answers, and where its
  /// callbacks run.
  static Promise make(std::shared_ptr<const detail::Origin> origin = nullptr) {
    Promise promise(nullptr);
    promise.core_ = std::make_shared<Core>(std::move(origin));
    return promise;
  }

  /// The one future of this promise: ask once. Throws invalid_state if there is none.
  Future<T> future() const {
    if (!core_) throw Error(ErrorKind::invalid_state, "this promise was made without a future");
    return Future<T>(core_->state);
  }
  /// False for one that was made of nullptr or moved from.
  explicit operator bool() const noexcept { return core_ != nullptr; }

  /// Settles with the value that is made of `value` (of nothing for void). True if this call did.
  template <class... V>
  bool resolve(V&&... value) const {
    return settle(Result<T>(std::forward<V>(value)...));
  }
  /// Settles with an error. True if this call did.
  bool reject(Error error) const { return settle(Result<T>(std::move(error))); }
  /// Settles with a value or an error. True if this call did.
  bool settle(Result<T> result) const { return core_ && core_->state->settle(std::move(result)); }
  /// True if nobody can hear the answer any more.
  bool unheard() const noexcept {
    return !core_ || (core_->state.use_count() == 1 && !core_->state->chained());
  }

 private:
  struct Core {
    explicit Core(std::shared_ptr<const detail::Origin> origin)
        : state(std::make_shared<detail::FutureState<T>>(std::move(origin))) {}
    const std::shared_ptr<detail::FutureState<T>> state;
    ~Core() {
      if (generation != detail::fork_generation()) return;  // nobody is there to hear it
      const auto& origin = state->origin();
      if (state->is_settled()) return;
      state->settle(Result<T>(origin ? origin->error() : Error(detail::dropped_error())));
    }
    const std::uint32_t generation = detail::fork_generation();
  };
  std::shared_ptr<Core> core_;
};

namespace detail {

/// For the library's own continuations, which only pass the result on.
struct FutureAccess {
  template <class T, class F>
  static void relay(Future<T> future, F&& continuation) {
    future.state();
    std::exchange(future.state_, nullptr)->on_settled(std::forward<F>(continuation), true);
  }

  /// What `f` makes of the Result<T> of `future`: a U, or an Error that it throws. It runs at once,
  /// on the thread that settles; callbacks of the new future run where those of `future` would.
  template <class U, class T, class F>
  static Future<U> transform(Future<T> future, F f) {
    const auto promise = Promise<U>::make(future.state().origin());
    auto made = promise.future();
    relay(std::move(future), [promise, f = std::move(f)](Result<T> result) mutable {
      try {
        promise.resolve(f(std::move(result)));
      } catch (const Error& error) {
        promise.reject(error);
      } catch (...) {
        // Without memory to say so: the promise is rejected when its last copy goes.
      }
    });
    return made;
  }

  /// Resolves when all of `futures` have, of which there is one at least; rejects with the first
  /// error.
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
