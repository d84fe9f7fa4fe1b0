#include "messages/shared/home_thread.hpp"

#include <deque>
#include <future>

namespace polychron::msg {

/// What the thread and those who ask share.
struct HomeThread::Post {
  std::mutex mutex;
  std::condition_variable asked;
  std::deque<std::function<void()>> work;
  bool ending = false;

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      asked.wait(lock, [this] { return !work.empty() || ending; });
      if (work.empty()) return;
      auto next = std::move(work.front());
      work.pop_front();
      lock.unlock();
      next();
      next = nullptr;
      lock.lock();
    }
  }
  void ask(std::function<void()> what, bool last = false) {
    const std::lock_guard lock(mutex);
    work.push_back(std::move(what));
    ending = ending || last;
    asked.notify_one();
  }
};

HomeThread::HomeThread()
    : post_(std::make_shared<Post>()), thread_([post = post_] { post->serve(); }) {}

HomeThread::~HomeThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(post_->mutex);
    post_->ending = true;
    post_->asked.notify_one();
  }
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
  home->post_->ask(std::move(last), true);
  if (wait)
    home->thread_.join();
  else
    home->thread_.detach();
}

}  // namespace polychron::msg
