#include "messages/shared/home_thread.hpp"

#include <deque>
#include <future>

namespace polychron::msg {

/// The state that the thread shares with those who ask.
struct HomeThread::Post {
  std::mutex mutex;
  std::condition_variable asked;
  std::deque<std::function<void()>> work;
  std::function<void()> last;  ///< apart from the others: there must be room for it
  bool ending = false;

  void serve(std::chrono::nanoseconds period, std::function<void()> chore) {
    const auto next_chore = [period] { return std::chrono::steady_clock::now() + period; };
    auto due = next_chore();
    std::unique_lock lock(mutex);
    for (;;) {
      if (!asked.wait_until(lock, due, [this] { return !work.empty() || ending; })) {
        lock.unlock();
        chore();
        due = next_chore();
        lock.lock();
        continue;
      }
      if (work.empty()) break;
      auto next = std::move(work.front());
      work.pop_front();
      lock.unlock();
      next();
      next = nullptr;
      lock.lock();
    }
    lock.unlock();
    chore = nullptr;
    if (last) last();
  }
  void ask(std::function<void()> what) {
    const std::lock_guard lock(mutex);
    work.push_back(std::move(what));
    asked.notify_one();
  }
  void end(std::function<void()> what) noexcept {
    const std::lock_guard lock(mutex);
    last = std::move(what);
    ending = true;
    asked.notify_one();
  }
};

HomeThread::HomeThread(std::chrono::nanoseconds period, std::function<void()> chore)
    : post_(std::make_shared<Post>()),
      thread_([post = post_, period, chore = std::move(chore)]() mutable {
        post->serve(period, std::move(chore));
      }) {}

HomeThread::~HomeThread() {
  if (!thread_.joinable()) return;
  post_->end(nullptr);
  thread_.join();
}

void HomeThread::run(std::function<void()> work) {
  std::promise<void> done;
  post_->ask([&] {
    try {
      work();
      done.set_value();
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  });
  done.get_future().get();
}

void HomeThread::end(std::unique_ptr<HomeThread> home, std::function<void()> last, bool wait) {
  home->post_->end(std::move(last));
  if (wait)
    home->thread_.join();
  else
    home->thread_.detach();
}

}  // namespace polychron::msg
