#include "environment.hpp"

#include <chrono>
#include <set>

namespace webnn {

namespace {

/// The environments that have not ended. `process.exit()` runs no cleanup hooks of the main thread,
/// but static destructors. lib/native.js closes its environment at the event 'exit'; this is for an
/// end without that event.
class Living {
 public:
  ~Living() {
    const std::lock_guard lock(mutex_);
    for (auto* const each : environments_) each->close();
  }
  void add(Environment* environment) {
    const std::lock_guard lock(mutex_);
    environments_.insert(environment);
  }
  void remove(Environment* environment) {
    const std::lock_guard lock(mutex_);
    environments_.erase(environment);
  }

 private:
  std::mutex mutex_;
  std::set<Environment*> environments_;
};

Living& living() {
  static Living all;
  return all;
}

}  // namespace

// -- the queue -----------------------------------------------------------------------------------

void LoopQueue::post(Task task) {
  // A throw would make the library run the task on a thread of its own, which must not touch
  // JavaScript. So without memory the reply is lost.
  try {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    tasks_.push_back(std::move(task));
    if (tasks_.size() == 1) napi_call_threadsafe_function(wake_, nullptr, napi_tsfn_nonblocking);
  } catch (const std::bad_alloc&) {
  }
}

std::vector<LoopQueue::Task> LoopQueue::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(tasks_, {});
}

void LoopQueue::close() {
  std::vector<Task> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(tasks_);
}

// -- the environment -----------------------------------------------------------------------------

Environment::Environment(napi_env env, napi_value make_error, napi_value schedule) : env_(env) {
  make_error_ = keep(make_error);
  schedule_ = keep(schedule);
  const auto name = make(env, std::string_view("webnn"));
  const auto call = [](napi_env alive, napi_value, void* self, void*) {
    if (alive != nullptr) static_cast<Environment*>(self)->drain();
  };
  check(napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this,
                                        call, &wake_));
  check(napi_unref_threadsafe_function(env, wake_));
  queue_->open(wake_);
  // Hooks run in reverse order: this one before the threadsafe function's.
  check(napi_add_env_cleanup_hook(
      env, [](void* self) { static_cast<Environment*>(self)->close(); }, this));
  living().add(this);
}

Environment::~Environment() {
  living().remove(this);
  close();
}

polychron::Runtime& Environment::runtime() {
  const std::lock_guard lock(ending_);
  if (closed_) throw polychron::Error(polychron::ErrorKind::invalid_state, "this thread is ending");
  // No executor: then callers, as the loop, may run jobs of the library.
  if (!runtime_) runtime_.emplace();
  return *runtime_;
}

void Environment::close() noexcept {
  const std::lock_guard lock(ending_);
  if (std::exchange(closed_, true)) return;
  queue_->close();
  worker_->close();
  if (runtime_) runtime_->shutdown();
}

void Environment::drain() {
  for (auto& task : queue_->take()) {
    napi_handle_scope scope = nullptr;
    if (napi_open_handle_scope(env_, &scope) != napi_ok) return;
    task();
    napi_close_handle_scope(env_, scope);
  }
}

void Environment::pump() {
  // A reply may depend on that many calls, of up to 250 us each.
  constexpr std::size_t most_calls = 16;
  constexpr std::chrono::milliseconds longest(1);
  const auto begun = std::chrono::steady_clock::now();
  polychron::check_invariant(later_ <= pending_, "a reply that others follow is pending");
  const auto replies = std::exchange(fresh_, {});
  bool soon = std::exchange(unanswered_, 0) <= most_calls * replies.size();
  for (const auto& reply : replies) {
    if (soon && later_ == 0 && reply->help())
      reply->finish();
    else
      reply->finish_later();
    soon = soon && std::chrono::steady_clock::now() - begun < longest;
  }
}

void Environment::schedule() const {
  napi_value ignored = nullptr;
  check(napi_call_function(env_, undefined(env_), kept(schedule_).raw(), 0, nullptr, &ignored));
}

void Environment::count(Waits waits, int change) {
  if (waits == Waits::not_at_all) return;
  const auto add = [change](std::size_t& number) { number += static_cast<std::size_t>(change); };
  if (waits == Waits::in_order) add(later_);
  add(pending_);
  if (change > 0 && pending_ == 1) check(napi_ref_threadsafe_function(env_, wake_));
  if (pending_ == 0) napi_unref_threadsafe_function(env_, wake_);
}

void Environment::settle(napi_deferred deferred, const std::function<napi_value()>& value) const {
  try {
    try {
      check(napi_resolve_deferred(env_, deferred, value()));
    } catch (const polychron::Error& error) {
      check(napi_reject_deferred(env_, deferred, to_js(error)));
    } catch (const std::bad_alloc&) {
      check(napi_reject_deferred(env_, deferred, to_js(no_memory_)));
    }
  } catch (const Refused&) {
    // JavaScript runs no more on this thread: nobody waits for the promise.
  }
}

napi_value Environment::to_js(const polychron::Error& error) const {
  const auto cause =
      error.cause() == nullptr ? undefined(env_) : to_js(polychron::Error(*error.cause()));
  Object said(env_);
  said.set("kind", to_string(error.kind()))
      .set("message", std::string_view(error.what()))
      .set("operation", std::string_view(error.operation()))
      .set("label", std::string_view(error.label()))
      .set("object", std::string_view(error.object()))
      .set("ticket", static_cast<double>(error.ticket()))
      .set("ran", error.ran())
      .set("cause", cause);
  const std::array arguments{said.raw()};
  napi_value result = nullptr;
  check(napi_call_function(env_, undefined(env_), kept(make_error_).raw(), arguments.size(),
                           arguments.data(), &result));
  return result;
}

napi_ref Environment::keep(napi_value value) const {
  napi_ref reference = nullptr;
  check(napi_create_reference(env_, value, 1, &reference));
  return reference;
}

Value Environment::kept(napi_ref reference) const {
  napi_value value = nullptr;
  check(napi_get_reference_value(env_, reference, &value));
  return {env_, value};
}

// -- calls ---------------------------------------------------------------------------------------

namespace {

void throw_as_js(napi_env env, const Environment& environment, const polychron::Error& error) {
  try {
    napi_throw(env, environment.to_js(error));
  } catch (const Refused&) {
  }
}

}  // namespace

napi_value guarded(napi_env env, napi_callback_info info,
                   napi_value (*call)(const Call&)) noexcept {
  std::array<napi_value, 8> values{};
  std::size_t count = values.size();
  void* environment = nullptr;
  if (napi_get_cb_info(env, info, &count, values.data(), nullptr, nullptr) != napi_ok ||
      napi_get_instance_data(env, &environment) != napi_ok || environment == nullptr)
    return nullptr;
  auto& own = *static_cast<Environment*>(environment);
  try {
    return call({own, values});
  } catch (const Refused&) {
    bool pending = false;
    if (napi_is_exception_pending(env, &pending) == napi_ok && !pending)
      napi_throw_type_error(env, nullptr, "an argument has an unexpected type");
  } catch (const polychron::Error& error) {
    throw_as_js(env, own, error);
  } catch (const std::bad_alloc&) {
    throw_as_js(env, own, own.no_memory());
  } catch (const std::exception& error) {
    napi_throw_error(env, nullptr, error.what());
  }
  return nullptr;
}

}  // namespace webnn
