#include "core/shapes.hpp"

#include <boost/asio/post.hpp>
#include <set>
#include <utility>

namespace polychron::server {

namespace {

std::string key_of(const Bindings& bindings) {
  std::string key;
  for (const auto& [name, shape] : bindings) key += name + to_string(shape) + '\n';
  return key;
}

/// A refusal that a later build of the same shape would meet again.
bool is_final(const Error& error) {
  const auto kind = error.root().kind();
  return kind == ErrorKind::type_error || kind == ErrorKind::not_supported ||
         kind == ErrorKind::bad_data || kind == ErrorKind::graph_invalid;
}

}  // namespace

void Shapes::get(const Bindings& bindings, Ready ready) {
  const auto key = key_of(bindings);
  std::unique_lock lock(mutex_);
  if (!entries_.contains(key)) return add(key, bindings, std::move(ready));
  auto& entry = entries_.at(key);
  order_.splice(order_.begin(), order_, entry.used);
  if (!entry.result) return entry.waiting.push_back(std::move(ready));
  auto result = *entry.result;
  lock.unlock();
  ready(std::move(result));
}

void Shapes::add(const std::string& key, const Bindings& bindings, Ready ready) {
  std::list<std::string> used{key}, queued{key};
  Entry entry;
  entry.bindings = bindings;
  entry.waiting.push_back(std::move(ready));
  entry.used = used.begin();
  entries_.emplace(key, std::move(entry));
  order_.splice(order_.begin(), used);
  queue_.splice(queue_.end(), queued);
  try {
    start_next();
  } catch (const std::bad_alloc&) {  // without memory for the first in the queue: this one
    order_.pop_front();
    queue_.pop_back();
    entries_.erase(key);
    throw;
  }
}

Shapes::Counts Shapes::counts() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size() - queue_.size() - (building_ ? 1 : 0),
          queue_.size() + (building_ ? 1 : 0), builds_, evicted_};
}

void Shapes::start_next() {
  if (building_ || queue_.empty()) return;
  const auto& key = queue_.front();
  boost::asio::post(builder_,
                    [self = shared_from_this(), key, bindings = entries_.at(key).bindings] {
                      self->build(key, bindings);
                    });
  queue_.pop_front();
  building_ = true;
  ++builds_;
  on_build_();
}

void Shapes::build(const std::string& key, const Bindings& bindings) {
  onnx::SessionOptions options;
  options.bindings = bindings;
  options.label = label_;
  onnx::Session::build(context_, model_, options)
      .then([self = shared_from_this(), key](Result<onnx::Session> result) {
        self->built(key, std::move(result));
      });
}

void Shapes::built(const std::string& key, Result<onnx::Session> result) {
  const auto memory = result ? result->graph().memory() : GraphMemory{};
  const std::uint64_t bytes = memory.total();
  if (bytes > most_bytes_)
    result = Error(ErrorKind::type_error, "model '" + label_ + "': requests of this shape need " +
                                              describe_bytes(bytes) + ", memory_limit is " +
                                              describe_bytes(most_bytes_));
  std::unique_lock lock(mutex_);
  building_ = false;
  auto& entry = entries_.at(key);
  const bool no_room = !result && result.error().root().kind() == ErrorKind::out_of_memory;
  if (no_room && !entry.retried && order_.size() > 1) {
    // Other shapes hold the memory: they go, and the build is tried again.
    entry.retried = true;
    evict(0, key);
    std::list<std::string> again{key};
    queue_.splice(queue_.begin(), again);
    return go_on(lock);
  }
  auto waiting = std::exchange(entry.waiting, {});
  if (result || is_final(result.error())) {
    entry.result = result;
    if (result) entry.memory = memory;
    evict(most_, key);
  } else {
    order_.erase(entry.used);
    entries_.erase(key);
  }
  go_on(lock);
  lock.unlock();
  tell(waiting, result);
}

void Shapes::go_on(std::unique_lock<std::mutex>& lock) noexcept {
  for (;;) try {
      return start_next();
    } catch (const std::bad_alloc&) {
      const auto failed = entries_.extract(queue_.front());
      order_.erase(failed.mapped().used);
      queue_.pop_front();
      lock.unlock();
      tell(failed.mapped().waiting, no_memory_);
      lock.lock();
    }
}

void Shapes::tell(const std::vector<Ready>& waiting, const Result<onnx::Session>& result) noexcept {
  for (const auto& ready : waiting) try {
      ready(result);
    } catch (const std::bad_alloc&) {  // its promise is dropped, and so rejects
    }
}

void Shapes::evict(std::size_t most, const std::string& keep) {
  std::size_t built = 0;
  std::uint64_t arenas = 0;
  std::multiset<std::uint64_t> constants;  // which the graphs share: the largest counts
  for (const auto& [key, entry] : entries_) {
    built += entry.result.has_value() ? 1 : 0;
    arenas += entry.arenas();
    constants.insert(entry.memory.constants);
  }
  for (auto at = order_.end();
       (built > most || arenas + *constants.rbegin() > most_bytes_) && at != order_.begin();) {
    --at;
    const auto& entry = entries_.at(*at);
    if (!entry.result || *at == keep) continue;
    arenas -= entry.arenas();
    constants.erase(constants.find(entry.memory.constants));
    --built;
    entries_.erase(*at);
    at = order_.erase(at);
    ++evicted_;
  }
}

}  // namespace polychron::server
