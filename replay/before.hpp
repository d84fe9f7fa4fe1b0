// What must come before what, and the order that keeps to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace polychron::replay {

/// Things that were seen in some order, of which some must come before others whatever was seen.
class Before {
 public:
  /// Time, and what comes first at the same.
  using Seen = std::pair<std::int64_t, int>;

  std::size_t add(Seen seen) {
    seen_.push_back(seen);
    later_.emplace_back();
    return seen_.size() - 1;
  }
  void put(std::size_t earlier, std::size_t later) {
    if (earlier != later) later_[earlier].push_back(later);
  }
  std::vector<std::size_t> as_seen() const {
    std::vector<std::size_t> all(seen_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    std::ranges::stable_sort(all, {}, [this](std::size_t i) { return seen_[i]; });
    return all;
  }
  /// As they were seen, but for what has to wait for others. What would have to wait for itself
  /// (a damaged recording's, or where one did two things and was overtaken between them) does not.
  std::vector<std::size_t> sorted() const {
    std::vector<std::size_t> waits(seen_.size());
    for (const auto& all : later_)
      for (const auto later : all) ++waits[later];
    const auto all = as_seen();
    std::vector<std::size_t> rank(all.size()), order;
    std::set<std::size_t> left, ready;  // by rank
    for (std::size_t r = 0; r < all.size(); ++r) {
      rank[all[r]] = r;
      left.insert(left.end(), r);
      if (waits[all[r]] == 0) ready.insert(ready.end(), r);
    }
    while (!left.empty()) {
      const auto r = ready.empty() ? *left.begin() : *ready.begin();
      left.erase(r);
      ready.erase(r);
      order.push_back(all[r]);
      for (const auto later : later_[all[r]])
        if (--waits[later] == 0 && left.contains(rank[later])) ready.insert(rank[later]);
    }
    return order;
  }

 private:
  std::vector<Seen> seen_;
  std::vector<std::vector<std::size_t>> later_;
};

}  // namespace polychron::replay
