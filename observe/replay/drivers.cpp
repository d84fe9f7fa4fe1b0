#include "observe/replay/drivers.hpp"

#include <algorithm>
#include <utility>

namespace polychron::replay {

void Drivers::run(std::function<bool()> step, std::function<std::optional<Name>()> next) {
  step_ = std::move(step);
  next_ = std::move(next);
  wake_.resize(1);
  drive(0);
  for (auto& thread : threads_) thread.join();
}

bool Drivers::hand_over(Thread self, Thread to, std::unique_lock<std::mutex>& lock) {
  active_ = to;
  wake_[to].notify_one();
  wake_[self].wait(lock, [&] { return active_ == self || done_; });
  return !done_;
}

void Drivers::drive(Thread self) {
  for (;;) {
    if (step_()) continue;
    const auto name = next_();
    std::unique_lock lock(mutex_);
    if (stopped_.empty()) {
      done_ = true;
      for (auto& wake : wake_) wake.notify_one();
      return;
    }
    auto chosen = std::ranges::find_if(stopped_, [&](const auto& s) { return s.name == name; });
    if (chosen == stopped_.end()) chosen = stopped_.begin();
    const auto to = chosen->thread;
    stopped_.erase(chosen);
    spare_.push_back(self);
    if (!hand_over(self, to, lock)) return;
  }
}

void Drivers::stop(Name name) {
  std::unique_lock lock(mutex_);
  if (spare_.empty()) {
    const Thread made = wake_.size();
    wake_.emplace_back();
    spare_.push_back(made);
    threads_.emplace_back([this, made] {
      {
        std::unique_lock mine(mutex_);
        wake_[made].wait(mine, [&] { return active_ == made || done_; });
        if (done_) return;
      }
      drive(made);
    });
  }
  const auto self = active_, driver = spare_.back();
  spare_.pop_back();
  stopped_.push_back({name, self});
  hand_over(self, driver, lock);
}

}  // namespace polychron::replay
