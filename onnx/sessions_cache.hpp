// The cache of a model's sessions.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "polychron/invariant.hpp"
#include "polychron/session.hpp"

namespace polychron::onnx::detail {

using Shapes = std::map<std::string, Shape>;

/// The kept sessions and those that are being built, the most recently used one first. Without the
/// caller's callbacks: builds end on threads of the library, which may drop the last handle to
/// this. Invariants: at most `most` entries; entries without a session have a build under way.
class SessionsCache {
 public:
  struct Entry {
    Shapes bindings;
    std::optional<Session> session;         ///< once it is built
    std::vector<Promise<Session>> waiting;  ///< until then
    GraphMemory memory{};                   ///< of its graph
  };
  using EntryRef = std::shared_ptr<Entry>;

  SessionsCache(std::size_t most, std::uint64_t most_bytes)
      : most_(most), most_bytes_(most_bytes) {}

  /// Settles `reply` with that session: now, or when it is built. Gives the entry if it is new: the
  /// caller has to build it.
  EntryRef want(const Shapes& bindings, const Promise<Session>& reply) {
    std::list<EntryRef> dropped;  // as their sessions, they end after the lock is released
    std::optional<Session> there;
    EntryRef added;
    {
      const std::lock_guard lock(mutex_);
      const auto known = std::ranges::find_if(
          entries_, [&](const EntryRef& entry) { return entry->bindings == bindings; });
      check_invariant(entries_.size() <= most_, "a cache keeps no more sessions than it may");
      if (known == entries_.end()) {
        added = std::make_shared<Entry>(Entry{bindings, {}, {reply}});
        entries_.push_front(added);
        evict(dropped);
      } else {
        entries_.splice(entries_.begin(), entries_, known);
        auto& entry = *entries_.front();
        there = entry.session;
        // Otherwise the reply would never come.
        check_invariant(there || !entry.waiting.empty(), "a session that is not there is built");
        if (!there) entry.waiting.push_back(reply);
      }
    }
    if (there) reply.resolve(*there);
    return added;
  }

  /// Ends a build. One that failed is forgotten: the next request builds again.
  void built(const EntryRef& entry, const Result<Session>& result) noexcept {
    std::list<EntryRef> dropped;
    std::vector<Promise<Session>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(entry->waiting);
      if (result) {
        entry->session = *result;
        entry->memory = result->graph().memory();
        evict(dropped);
      } else {
        entries_.remove(entry);
      }
    }
    for (const auto& reply : waiting) reply.settle(result);
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

  /// Drops what is kept. Builds go on for those that wait.
  void clear() noexcept {
    std::list<EntryRef> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(entries_);
  }

 private:
  /// With the lock. The first entry stays, as somebody wants it now.
  void evict(std::list<EntryRef>& dropped) noexcept {
    while (entries_.size() > 1 && (entries_.size() > most_ || bytes() > most_bytes_))
      dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
  }
  /// With the lock. The graphs share their weights: the largest count.
  std::uint64_t bytes() const noexcept {
    std::uint64_t arenas = 0, constants = 0;
    for (const auto& entry : entries_) {
      arenas += entry->memory.total() - entry->memory.constants;
      constants = std::max<std::uint64_t>(constants, entry->memory.constants);
    }
    return arenas + constants;
  }

  const std::size_t most_;
  const std::uint64_t most_bytes_;
  mutable std::mutex mutex_;  ///< no thread builds, imports or drops a session while it holds it
  std::list<EntryRef> entries_;
};

}  // namespace polychron::onnx::detail
