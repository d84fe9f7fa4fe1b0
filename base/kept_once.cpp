#include "base/kept_once.hpp"

#include <pthread.h>

#include <array>
#include <bit>
#include <cstdint>
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
  // Eight chains of words, as a single one would wait for each product before the next.
  constexpr std::uint64_t factor = 0x9e37'79b9'7f4a'7c15;
  std::array<std::uint64_t, 8> chains{};
  const auto mix = [](std::uint64_t a, std::uint64_t b) { return std::rotl(a ^ b, 29) * factor; };
  const auto all = bytes.bytes();
  const auto whole = all.size() / sizeof chains * sizeof chains;
  for (std::size_t at = 0; at < whole; at += sizeof chains) {
    std::array<std::uint64_t, 8> words;
    std::memcpy(words.data(), all.data() + at, sizeof words);
    for (std::size_t i = 0; i < chains.size(); ++i) chains[i] = mix(chains[i], words[i]);
  }
  const auto rest = all.subspan(whole);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  std::uint64_t digest = mix(std::hash<std::string_view>()(text), all.size());
  for (const auto chain : chains) digest = mix(digest, chain);
  return digest;
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
