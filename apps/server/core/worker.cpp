#include "core/worker.hpp"

#include <utility>

namespace polychron::server {

void Worker::add(std::size_t bytes, std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace(bytes, std::move(task));
  }
  wake_.notify_one();
}

void Worker::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
    const auto task = std::move(tasks_.extract(tasks_.begin()).mapped());
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace polychron::server
