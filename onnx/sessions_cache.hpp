// The cache of a model's sessions.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "onnx/bindings.hpp"
#include "polychron/invariant.hpp"
#include "polychron/session.hpp"

namespace polychron::onnx::detail {

/// True if a later build of the same shapes would meet the same refusal.
inline bool is_final(const Error& error) noexcept {
  const auto kind = error.root().kind();
  return kind == ErrorKind::type_error || kind == ErrorKind::not_supported ||
         kind == ErrorKind::bad_data || kind == ErrorKind::graph_invalid;
}

/// The kept sessions and refusals, and the builds under way. Without the caller's callbacks: builds
/// end on threads of the library, which may drop the last handle to this. Invariants: entries
/// without a result have a build under way; `entries_` and `by_use_` hold the same entries.
class SessionsCache {
 public:
  struct Entry {
    Shapes bindings;
    std::optional<Result<Session>> result{};  ///< once it is built
    std::vector<Promise<Session>> waiting{};  ///< until then
    GraphMemory memory{};                     ///< of its graph
    std::list<std::shared_ptr<Entry>>::iterator used{};
  };
  using EntryRef = std::shared_ptr<Entry>;

  SessionsCache(std::size_t most, std::uint64_t most_bytes)
      : most_(most), most_bytes_(most_bytes) {}

  /// Settles `reply` with that session: now, or when it is built. Gives the entry if it is new: the
  /// caller has to build it.
  EntryRef want(const Shapes& bindings, const Promise<Session>& reply) {
    std::optional<Result<Session>> there;
    {
      const std::lock_guard lock(mutex_);
      check_invariant(entries_.size() == by_use_.size(), "each entry of a cache has its turn");
      const auto [known, is_new] = entries_.try_emplace(bindings);
      if (is_new) return add(known, reply);
      auto& entry = *known->second;
      // Otherwise the reply would never come.
      check_invariant(entry.result || !entry.waiting.empty(),
                      "a session that is not there is built");
      by_use_.splice(by_use_.begin(), by_use_, entry.used);
      if (!entry.result) {
        entry.waiting.push_back(reply);
        return nullptr;
      }
      there = entry.result;
    }
    reply.settle(*there);
    return nullptr;
  }

  /// Ends a build. Its refusal is kept if it is final; else the next request builds again.
  void built(const EntryRef& entry, Result<Session> result) noexcept {
    const auto memory = result ? result->graph().memory() : GraphMemory{};
    if (memory.total() > most_bytes_) result = too_large(*result, memory.total());
    EntryList dropped;  // as their sessions, they end after the lock is released
    std::vector<Promise<Session>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(entry->waiting);
      entry->result = result;
      if (result) entry->memory = memory;
      const auto known = entries_.find(entry->bindings);
      const bool is_cleared = known == entries_.end() || known->second != entry;
      if (!result && result.error().root().kind() == ErrorKind::out_of_memory)
        evict(0, entry, dropped);
      if (!is_cleared && !result && !is_final(result.error())) {
        entries_.erase(known);
        dropped.splice(dropped.end(), by_use_, entry->used);
      }
      evict(most_, entry, dropped);
    }
    for (const auto& reply : waiting) reply.settle(result);
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

  /// Drops what is kept. Builds go on for those that wait.
  void clear() noexcept {
    EntryList dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(by_use_);
    entries_.clear();
  }

 private:
  using EntryList = std::list<EntryRef>;
  using Index = std::map<Shapes, EntryRef>;

  Error too_large(const Session& session, std::uint64_t bytes) const noexcept try {
    return {ErrorKind::type_error, "session '" + session.label() + "': its graph takes " +
                                       describe_bytes(bytes) + ", all sessions together may take " +
                                       describe_bytes(most_bytes_)};
  } catch (const std::bad_alloc&) {
    return polychron::detail::out_of_memory_error();
  }

  /// With the lock. If it throws, nothing has changed.
  EntryRef add(Index::iterator at, const Promise<Session>& reply) {
    try {
      at->second = std::make_shared<Entry>(Entry{at->first});
      at->second->waiting.push_back(reply);
      by_use_.push_front(at->second);
    } catch (...) {
      entries_.erase(at);
      throw;
    }
    at->second->used = by_use_.begin();
    return at->second;
  }

  /// With the lock. Drops built entries, the least recently used first, until at most `most` are
  /// left, which fit the bytes. `keep` stays, as somebody wants it now.
  void evict(std::size_t most, const EntryRef& keep, EntryList& dropped) noexcept {
    auto [built, bytes] = kept();
    for (auto at = by_use_.end(); (built > most || bytes > most_bytes_) && at != by_use_.begin();) {
      const auto entry = *--at;
      if (!entry->result || entry == keep) continue;
      entries_.erase(entry->bindings);
      dropped.splice(dropped.begin(), by_use_, at++);
      std::tie(built, bytes) = kept();
    }
  }
  /// With the lock. The number and the bytes of the built entries. The graphs share their weights:
  /// the largest count.
  std::pair<std::size_t, std::uint64_t> kept() const noexcept {
    std::size_t built = 0;
    std::uint64_t arenas = 0, constants = 0;
    for (const auto& entry : by_use_) {
      if (entry->result) ++built;
      arenas += entry->memory.total() - entry->memory.constants;
      constants = std::max<std::uint64_t>(constants, entry->memory.constants);
    }
    return {built, arenas + constants};
  }

  const std::size_t most_;
  const std::uint64_t most_bytes_;
  mutable std::mutex mutex_;  ///< no thread builds, imports or drops a session while it holds it
  Index entries_;
  EntryList by_use_;  ///< the most recently used one first
};

}  // namespace polychron::onnx::detail
