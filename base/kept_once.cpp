#include "base/kept_once.hpp"

#include <pthread.h>

#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace polychron {

namespace {

/// An entry of the table takes a tenth of this.
constexpr std::size_t least_bytes = 1024;

class Table {
 public:
  std::vector<KeptBytes> find(std::size_t key) {
    const std::lock_guard lock(mutex_);
    std::vector<KeptBytes> found;
    const auto [first, last] = places_.equal_range(key);
    for (auto place = first; place != last; ++place)
      if (auto bytes = place->second.lock()) found.push_back(std::move(bytes));
    return found;
  }
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void add(std::size_t key, const KeptBytes& bytes) {
    const std::lock_guard lock(mutex_);
    if (places_.size() >= next_sweep_) {
      std::erase_if(places_, [](const auto& place) { return place.second.expired(); });
      next_sweep_ = 2 * places_.size() + 64;
    }
    places_.emplace(key, bytes);
  }

 private:
  std::mutex mutex_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const Buffer>> places_;
  std::size_t next_sweep_ = 64;
};

/// Never destroyed, as graphs may outlive any static.
Table& table() {
  static Table& table = *new Table;
  return table;
}

// A fork waits until no thread holds the table's lock, which the child would otherwise find locked
// for ever. Registered when the library is loaded, before there is a runtime to fork.
[[maybe_unused]] const int registered =
    pthread_atfork([] { table().lock(); }, [] { table().unlock(); }, [] { table().unlock(); });

}  // namespace

std::size_t content_digest(const Buffer& bytes) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::hash<std::string_view>()(content);
}

KeptBytes kept_once(KeptBytes bytes) {
  if (bytes == nullptr || bytes->size() < least_bytes) return bytes;
  const auto key = content_digest(*bytes);
  for (auto& other : table().find(key))
    if (other->size() == bytes->size() &&
        std::memcmp(other->data(), bytes->data(), bytes->size()) == 0)
      return std::move(other);
  table().add(key, bytes);
  return bytes;
}

}  // namespace polychron
