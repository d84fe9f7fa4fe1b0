#include "observe/stress/systematic.hpp"

#include <algorithm>
#include <stdexcept>

namespace polychron::stress {

bool SystematicStrategy::contains(const std::vector<Name>& names, Name name) {
  return std::ranges::find(names, name) != names.end();
}

bool SystematicStrategy::sleeps(const Node& node, Name name) {
  return std::ranges::any_of(node.asleep, [&](const Footprint& f) { return f.name == name; });
}

SystematicStrategy::Node SystematicStrategy::node_of(std::span<const Runnable> runnables) const {
  Node node;
  for (const auto& runnable : runnables) node.enabled.push_back(runnable.name());
  if (reduction_ == Reduction::none) {
    node.wanted = node.enabled;
  } else if (!path_.empty()) {
    const auto& before = path_.back();
    for (const auto& step : before.asleep)
      if (!dependent(step, before.made)) node.asleep.push_back(step);
  }
  return node;
}

std::size_t SystematicStrategy::pick(std::span<const Runnable> runnables) {
  if (!footprints_.recording() || blocked_) return 0;
  look_back();
  if (at_ == path_.size()) {
    auto node = node_of(runnables);
    const auto awake = std::ranges::find_if(node.enabled, [&](Name n) { return !sleeps(node, n); });
    if (awake == node.enabled.end()) {
      blocked_ = true;
      return 0;
    }
    node.chosen = *awake;
    node.wanted.push_back(*awake);
    path_.push_back(std::move(node));
    ++states_;
  }
  const auto chosen = path_[at_++].chosen;
  const auto found =
      std::ranges::find_if(runnables, [&](const Runnable& r) { return r.name() == chosen; });
  if (found == runnables.end()) throw std::logic_error("the world does not do the same as before");
  return static_cast<std::size_t>(found - runnables.begin());
}

void SystematicStrategy::look_back() {
  if (at_ == 0) return;
  auto& node = path_[at_ - 1];
  node.made = footprints_.last();
  if (at_ - 1 >= fresh_ && reduction_ != Reduction::none) find_races(at_ - 1);
}

/// A step races with an earlier one if the two depend on each other, and nothing else puts them in
/// this order.
void SystematicStrategy::find_races(std::size_t at) {
  auto& node = path_[at];
  node.after.assign(at, false);
  for (auto before = at; before-- > 0;) {
    if (node.after[before]) continue;
    const auto& earlier = path_[before];
    const bool causes = node.made.cause == before;
    if (!causes && !dependent(earlier.made, node.made)) continue;
    node.after[before] = true;
    for (std::size_t i = 0; i < before; ++i)
      if (earlier.after[i]) node.after[i] = true;
    if (!causes && earlier.made.name != node.made.name) want_before(before, at);
  }
}

/// The step `later`, or a step that leads to it, shall be tried instead of the one at `at`.
void SystematicStrategy::want_before(std::size_t at, std::size_t later) {
  auto& node = path_[at];
  const auto leads = [&](std::size_t i) { return i == later || path_[later].after[i]; };
  std::optional<Name> candidate;
  for (auto i = later; i > at; --i) {
    const auto name = path_[i].made.name;
    if (!contains(node.enabled, name) || !leads(i)) continue;
    if (contains(node.wanted, name)) return;
    if (!candidate) candidate = name;
  }
  if (candidate) {
    node.wanted.push_back(*candidate);
    return;
  }
  for (const auto name : node.enabled)
    if (!contains(node.wanted, name)) node.wanted.push_back(name);
}

bool SystematicStrategy::next() {
  if (!blocked_) look_back();
  footprints_.restart();
  blocked_ = false;
  at_ = 0;
  while (!path_.empty()) {
    auto& node = path_.back();
    node.asleep.push_back(node.made);
    const auto other =
        std::ranges::find_if(node.wanted, [&](Name name) { return !sleeps(node, name); });
    if (other != node.wanted.end()) {
      node.chosen = *other;
      fresh_ = path_.size() - 1;
      ++states_;
      return true;
    }
    path_.pop_back();
  }
  return false;
}

}  // namespace polychron::stress
