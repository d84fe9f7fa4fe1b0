// Which actors of a runtime are alive: so that shutdown can wait for them, and name who stays.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "messages/shared/waiting.hpp"
#include "polychron/runtime.hpp"

namespace polychron::msg {

/// Thread-safe. Touched when an actor is spawned and when it ends, never in between.
class ActorRegistry {
 public:
  /// Says what an actor is doing that may keep its thread for long; empty if nothing. Called by any
  /// thread.
  using Doing = std::function<std::string()>;

 private:
  struct Busy {
    std::string name;
    Doing doing;
  };

 public:
  /// An actor's entry, from enter() to leave().
  class Entry {
    friend ActorRegistry;
    const std::string* name = nullptr;  ///< in idle_; null: see busy
    const Busy* busy = nullptr;
  };

  /// Called by the thread that spawns the actor, so that the actor is counted at all times.
  Entry enter(const std::string& name, Doing doing = {}) {
    const std::lock_guard lock(mutex_);
    Entry entry;
    if (doing) {
      busy_.push_back({name, std::move(doing)});
      entry.busy = &busy_.back();
      return entry;
    }
    const auto idle = idle_.try_emplace(name, 0).first;
    ++idle->second;
    entry.name = &idle->first;
    return entry;
  }
  /// Called when the actor has let go of everything.
  void leave(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (entry.busy != nullptr)
      busy_.remove_if([&](const Busy& busy) { return &busy == entry.busy; });
    else if (const auto idle = idle_.find(*entry.name); --idle->second == 0)
      idle_.erase(idle);
    if (idle_.empty() && busy_.empty()) empty_.notify_all();
  }
  /// Blocks until nobody is left, or for `patience`.
  void wait_until_empty(std::chrono::nanoseconds patience) {
    std::unique_lock lock(mutex_);
    wait_for(lock, empty_, patience, [this] { return idle_.empty() && busy_.empty(); });
  }
  /// The actors that are there.
  std::vector<RemainingActor> present() const {
    const std::lock_guard lock(mutex_);
    std::vector<RemainingActor> present;
    for (const auto& [name, doing] : busy_) present.push_back({name, 1, doing()});
    for (const auto& [name, count] : idle_) present.push_back({name, count, ""});
    return present;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::map<std::string, std::size_t> idle_;  ///< how many of each name: there may be many tensors
  std::list<Busy> busy_;
};

}  // namespace polychron::msg
