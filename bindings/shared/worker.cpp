#include "worker.hpp"

#include <utility>

namespace bindings {

void Worker::post(Task task) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  tasks_.push_back(std::move(task));
  try {
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  } catch (...) {
    tasks_.pop_back();
    throw;
  }
  changed_.notify_one();
}

void Worker::close() noexcept {
  std::deque<Task> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(tasks_);
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::work() noexcept {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [this] { return closed_ || !tasks_.empty(); });
    if (closed_) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
  }
}

}  // namespace bindings
