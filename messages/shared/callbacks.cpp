#include "messages/shared/callbacks.hpp"

#include "base/before_exit.hpp"
#include "messages/shared/waiting.hpp"

namespace polychron::msg {

using polychron::detail::Deferred;

namespace {
thread_local bool callback_thread = false;
}

std::shared_ptr<Callbacks> Callbacks::start(Executor executor, ExceptionHandler on_exception) {
  const std::shared_ptr<Callbacks> callbacks(
      new Callbacks(std::move(executor), std::move(on_exception)));
  if (!callbacks->executor_) callbacks->thread_ = std::thread([callbacks] { callbacks->serve(); });
  return callbacks;
}

Callbacks::~Callbacks() {
  if (thread_.joinable()) thread_.detach();  // it is this thread, which is ending
}

bool Callbacks::hand_over(const std::shared_ptr<Deferred>& callback) noexcept {
  std::shared_ptr<Once> begun;
  try {
    begun = std::make_shared<Once>();
    executor_([self = shared_from_this(), callback, begun] {
      if (begun->claim()) self->run(*callback);
    });
    return true;
  } catch (...) {
    // It may have kept what it was given, and run it at this moment.
    return begun && !begun->claim();
  }
}

void Callbacks::post(std::shared_ptr<Deferred> callback) noexcept {
  if (executor_ && hand_over(callback)) return;
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_ && have_thread()) {
      if (const auto* const origin = callback->origin_of_reply()) origin->waits();
      queue_.push(std::move(callback));
      posted_.notify_one();
      return;
    }
  }
  run(*callback);
}

bool Callbacks::have_thread() noexcept {
  if (thread_.joinable()) return true;
  try {
    // It holds a share of what it serves: it may outlive everybody else by a callback.
    thread_ = std::thread([self = shared_from_this()] { self->serve(); });
  } catch (...) {
    return false;
  }
  return true;
}

void Callbacks::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    posted_.notify_one();
  }
  if (!thread_.joinable()) return;
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

bool Callbacks::on_its_thread() noexcept { return callback_thread; }

bool Callbacks::wait_until_idle(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  return wait_for(lock, idle_, patience, [this] { return queue_.empty() && !running_; });
}

void Callbacks::serve() {
  callback_thread = true;
  const EndsProcess in_a_callback;
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [this] { return !queue_.empty() || stopped_; });
    auto callback = queue_.pop();
    if (!callback) return;
    running_ = true;
    lock.unlock();
    if (const auto* const origin = callback->origin_of_reply()) origin->taken();
    run(*callback);
    callback.reset();  // not under the lock: it may hold anything of the user's
    lock.lock();
    running_ = false;
    if (queue_.empty()) idle_.notify_all();
  }
}

void Callbacks::run(Deferred& callback) noexcept {
  try {
    callback.run();
  } catch (...) {
    ++exceptions_;
    if (!on_exception_) return;
    try {
      on_exception_(std::current_exception());
    } catch (...) {  // there is nobody left to tell
      ++exceptions_;
    }
  }
}

}  // namespace polychron::msg
