#include "base/kept_once.hpp"

#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace polychron {

namespace {

/// A place in the table takes a tenth of it.
constexpr std::size_t least_bytes = 1024;

/// What is alike has the same; nearly all that is not differs in it.
std::size_t digest(const Buffer& bytes) {
  constexpr std::size_t samples = 64, sample = 16;
  const std::size_t step = bytes.size() / samples;
  std::string taken = std::to_string(bytes.size());
  for (std::size_t i = 0; i < samples; ++i)
    taken.append(reinterpret_cast<const char*>(bytes.data()) + i * step, sample);
  return std::hash<std::string>()(taken);
}

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

/// Never destroyed: graphs may go later than any static.
Table& table() {
  static Table& table = *new Table;
  return table;
}

}  // namespace

KeptBytes kept_once(KeptBytes bytes) {
  if (bytes == nullptr || bytes->size() < least_bytes) return bytes;
  const auto key = digest(*bytes);
  for (auto& other : table().find(key))
    if (other->size() == bytes->size() &&
        std::memcmp(other->data(), bytes->data(), bytes->size()) == 0)
      return std::move(other);
  table().add(key, bytes);
  return bytes;
}

}  // namespace polychron
