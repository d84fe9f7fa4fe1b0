// An environment: the main thread of a process, or a worker. Each has a runtime of its own, whose
// callbacks run on the environment's event loop.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <node_api.h>

#include <polychron/polychron.hpp>

#include "js.hpp"
#include "shared/worker.hpp"

namespace webnn {

/// Callbacks on their way from the runtime's threads to the event loop. After close() it drops what
/// comes: no thread touches the loop again.
class LoopQueue {
 public:
  using Task = std::function<void()>;
  void open(napi_threadsafe_function wake) { wake_ = wake; }
  void post(Task task);
  std::vector<Task> take();
  void close();

 private:
  std::mutex mutex_;
  std::vector<Task> tasks_;
  napi_threadsafe_function wake_ = nullptr;
  bool closed_ = false;
};

/// A promise that JavaScript waits for, and the future that settles it.
class Reply : public std::enable_shared_from_this<Reply> {
 public:
  virtual ~Reply() = default;
  /// On the loop: runs short jobs that it depends on. True if finish() would not wait.
  virtual bool help() = 0;
  /// On the loop: settles the promise.
  virtual void finish() = 0;
  /// Posts finish() to the loop, once the runtime has the reply.
  virtual void finish_later() = 0;
};

/// Owned by the environment's instance data. All methods run on the environment's thread, except
/// close(), which the end of the process may call.
///
/// A call's promise is settled on a later turn of the loop. The loop first runs the short jobs that
/// it depends on: waking other threads takes many times as long as a small graph. It does so for a
/// millisecond a turn, and after few calls for each reply. As soon as one reply is not there,
/// this and all later ones come by the runtime's callback thread, in order.
class Environment {
 public:
  /// `schedule` makes the loop call pump() soon.
  Environment(napi_env env, napi_value make_error, napi_value schedule);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Starts the runtime at the first call. Throws invalid_state after close().
  polychron::Runtime& runtime();
  /// Ends the runtime: waits for running kernels, drops every pending callback. Idempotent.
  void close() noexcept;
  /// Settles what is there, and passes the rest to the runtime's callback thread.
  void pump();
  /// A call without a reply, which the next reply depends on.
  void called() noexcept { ++unanswered_; }
  /// Runs what may take long and is not the runtime's.
  bindings::Worker& worker() noexcept { return *worker_; }
  /// The same, for the library. It outlives the environment.
  std::function<void(std::function<void()>)> executor() const {
    return [worker = worker_](bindings::Worker::Task task) { worker->post(std::move(task)); };
  }

  napi_value to_js(const polychron::Error& error) const;
  /// The error of an allocation that failed; made early, as throwing it must not allocate.
  const polychron::Error& no_memory() const noexcept { return no_memory_; }
  /// A promise of the future's value. `convert` makes it a JavaScript value, on the loop, or throws
  /// Error. While it is pending, the loop does not end.
  template <class T, class F>
  napi_value promise(polychron::Future<T> future, F convert) {
    auto [reply, result] = make_reply(std::move(future), std::move(convert), Waits::in_order);
    fresh_.push_back(std::move(reply));
    if (fresh_.size() == 1) schedule();
    return result;
  }
  /// The same for an event, which other replies may overtake. The loop waits for it only if it is
  /// `certain` to come.
  template <class T, class F>
  napi_value event(polychron::Future<T> future, F convert, bool certain) {
    auto [reply, result] = make_reply(std::move(future), std::move(convert),
                                      certain ? Waits::by_itself : Waits::not_at_all);
    reply->finish_later();
    return result;
  }
  napi_env env() const noexcept { return env_; }

  /// Keeps a JavaScript value alive until released.
  napi_ref keep(napi_value value) const;
  Value kept(napi_ref reference) const;
  void drop(napi_ref reference) const noexcept { napi_delete_reference(env_, reference); }

 private:
  /// How the loop waits for a reply that comes by the callback thread.
  enum class Waits : std::uint8_t { in_order, by_itself, not_at_all };
  template <class T, class F>
  class ReplyOf;
  template <class T, class F>
  std::pair<std::shared_ptr<Reply>, napi_value> make_reply(polychron::Future<T> future, F convert,
                                                           Waits waits) {
    napi_deferred deferred = nullptr;
    napi_value result = nullptr;
    check(napi_create_promise(env_, &deferred, &result));
    return {std::make_shared<ReplyOf<T, F>>(*this, std::move(future), std::move(convert), deferred,
                                            waits),
            result};
  }
  void schedule() const;
  void settle(napi_deferred deferred, const std::function<napi_value()>& value) const;
  void drain();
  /// One reply more or less that comes by the callback thread.
  void count(Waits waits, int change);

  napi_env env_;
  napi_ref make_error_ = nullptr;
  napi_ref schedule_ = nullptr;
  napi_threadsafe_function wake_ = nullptr;
  std::shared_ptr<LoopQueue> queue_ = std::make_shared<LoopQueue>();
  const std::shared_ptr<bindings::Worker> worker_ = std::make_shared<bindings::Worker>();
  std::optional<polychron::Runtime> runtime_;
  const polychron::Error no_memory_{polychron::ErrorKind::out_of_memory, "out of memory"};
  std::vector<std::shared_ptr<Reply>> fresh_;  ///< in the order of the calls
  std::size_t pending_ = 0;  ///< replies that come by the callback thread: the loop waits for them
  std::size_t later_ = 0;    ///< those of them that all further replies follow
  std::size_t unanswered_ = 0;  ///< calls since the last reply
  std::mutex ending_;
  bool closed_ = false;
};

template <class T, class F>
class Environment::ReplyOf final : public Reply {
 public:
  ReplyOf(Environment& environment, polychron::Future<T> future, F convert, napi_deferred deferred,
          Waits waits)
      : environment_(environment),
        future_(std::move(future)),
        convert_(std::move(convert)),
        deferred_(deferred),
        waits_(waits) {}
  bool help() override { return future_.help(); }
  void finish() override { settle(future_.take()); }
  void finish_later() override {
    environment_.count(waits_, 1);
    auto self = std::static_pointer_cast<ReplyOf>(shared_from_this());
    future_.then([self, queue = environment_.queue_](polychron::Result<T> result) {
      const auto kept = std::make_shared<polychron::Result<T>>(std::move(result));
      queue->post([self, kept] {
        self->environment_.count(self->waits_, -1);
        self->settle(std::move(*kept));
      });
    });
  }

 private:
  void settle(polychron::Result<T> result) {
    environment_.settle(deferred_, [&] { return convert_(std::move(result)); });
  }

  Environment& environment_;
  polychron::Future<T> future_;
  F convert_;
  napi_deferred deferred_;
  const Waits waits_;
};

/// The arguments of a call from lib/.
struct Call {
  Environment& environment;
  std::array<napi_value, 8> values;
  napi_env env() const noexcept { return environment.env(); }
  Value operator[](std::size_t i) const noexcept { return {env(), values[i]}; }
};

/// Runs `call`, and throws its C++ exceptions as JavaScript ones.
napi_value guarded(napi_env env, napi_callback_info info, napi_value (*call)(const Call&)) noexcept;

template <napi_value (*F)(const Call&)>
napi_value entry(napi_env env, napi_callback_info info) {
  return guarded(env, info, F);
}

}  // namespace webnn
