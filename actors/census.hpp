// Which actors of a runtime are alive: so that shutdown can wait for them, and name who stays.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace polychron::actors {

/// Thread-safe. Touched when an actor starts and ends, never in between.
class Census {
 public:
  void enter(const std::string& name) {
    const std::lock_guard lock(mutex_);
    ++present_[name];
  }
  void leave(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (--present_[name] == 0) present_.erase(name);
    if (present_.empty()) empty_.notify_all();
  }
  /// Blocks until nobody is left.
  void wait_until_empty() {
    std::unique_lock lock(mutex_);
    empty_.wait(lock, [this] { return present_.empty(); });
  }
  /// "3 x tensor, 1 x device of context 'main'"; empty if nobody is there.
  std::string present() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [name, count] : present_)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + name;
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::map<std::string, std::size_t> present_;
};

/// An entry in the census for as long as it lives; a member of every actor's state.
class Presence {
 public:
  Presence(std::shared_ptr<Census> census, std::string name)
      : census_(std::move(census)), name_(std::move(name)) {
    census_->enter(name_);
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() { census_->leave(name_); }

 private:
  std::shared_ptr<Census> census_;
  std::string name_;
};

}  // namespace polychron::actors
