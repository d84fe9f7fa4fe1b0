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

/// Owned by the environment's instance data. All methods run on the environment's thread, except
/// close(), which the end of the process may call.
class Environment {
 public:
  Environment(napi_env env, napi_value make_error);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Starts the runtime at the first call. Throws invalid_state after close().
  polychron::Runtime& runtime();
  /// Ends the runtime: waits for running kernels, drops every pending callback. Idempotent.
  void close() noexcept;

  napi_value to_js(const polychron::Error& error) const;
  /// The error of an allocation that failed; made early, as throwing it must not allocate.
  const polychron::Error& no_memory() const noexcept { return no_memory_; }
  /// A promise of the future's value. `convert` makes it a JavaScript value, on the loop, or throws
  /// Error. While `keeps_alive` promises are pending, the loop does not end.
  template <class T, class F>
  napi_value promise(polychron::Future<T> future, F convert, bool keeps_alive = true) {
    napi_deferred deferred = nullptr;
    napi_value result = nullptr;
    check(napi_create_promise(env_, &deferred, &result));
    if (keeps_alive) hold();
    future.then(
        [this, deferred, keeps_alive, convert = std::move(convert)](polychron::Result<T> r) mutable {
          if (keeps_alive) let_go();
          settle(deferred, [&] { return convert(std::move(r)); });
        });
    return result;
  }
  napi_env env() const noexcept { return env_; }

  /// Keeps a JavaScript value alive until released.
  napi_ref keep(napi_value value) const;
  Value kept(napi_ref reference) const;
  void drop(napi_ref reference) const noexcept { napi_delete_reference(env_, reference); }

 private:
  void settle(napi_deferred deferred, const std::function<napi_value()>& value) const;
  void drain();
  void hold();
  void let_go();

  napi_env env_;
  napi_ref make_error_ = nullptr;
  napi_threadsafe_function wake_ = nullptr;
  std::shared_ptr<LoopQueue> queue_ = std::make_shared<LoopQueue>();
  std::optional<polychron::Runtime> runtime_;
  const polychron::Error no_memory_{polychron::ErrorKind::out_of_memory, "out of memory"};
  std::size_t pending_ = 0;  ///< promises that keep the loop alive
  std::mutex ending_;
  bool closed_ = false;
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
