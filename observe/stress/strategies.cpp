#include "observe/stress/strategies.hpp"

#include <algorithm>

namespace polychron::stress {

namespace {

std::pair<std::string_view, std::uint64_t> key_of(const Runnable& runnable) {
  return {runnable.actor(), runnable.id()};
}

/// A walk allows one interruption in this many steps.
constexpr std::uint64_t seldom = 8;

}  // namespace

PctStrategy::PctStrategy(std::uint64_t seed, std::size_t depth, std::size_t steps) : random_(seed) {
  for (std::size_t i = 1; i < depth; ++i)
    changes_.push_back(static_cast<std::size_t>(random_() % std::max<std::size_t>(steps, 1)));
  std::ranges::sort(changes_, std::greater<>());
}

std::uint64_t& PctStrategy::priority(const Runnable& runnable) {
  const auto [at, added] = priorities_.try_emplace(key_of(runnable), 0);
  if (added) at->second = (random_() >> 1U) + (std::uint64_t{1} << 32U);
  return at->second;
}

std::size_t PctStrategy::best(std::span<const Runnable> runnables) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < runnables.size(); ++i)
    if (priority(runnables[i]) > priority(runnables[best])) best = i;
  return best;
}

std::size_t PctStrategy::pick(std::span<const Runnable> runnables) {
  auto chosen = best(runnables);
  ++step_;
  while (!changes_.empty() && changes_.back() < step_) {
    // Below all others. Of several lowered ones, the latest is the lowest.
    priority(runnables[chosen]) = changes_.size();
    changes_.pop_back();
    chosen = best(runnables);
  }
  return chosen;
}

std::optional<std::size_t> PctStrategy::interrupt(const Runnable& running,
                                                  std::span<const Runnable> runnables) {
  const auto chosen = best(runnables);
  ++step_;
  if (!changes_.empty() && changes_.back() < step_) {
    priority(running) = changes_.size();
    changes_.pop_back();
  }
  if (priority(runnables[chosen]) > priority(running)) return chosen;
  return std::nullopt;
}

std::size_t PosStrategy::pick(std::span<const Runnable> runnables) {
  std::size_t best = 0;
  std::uint64_t highest = 0;
  for (std::size_t i = 0; i < runnables.size(); ++i) {
    const auto [at, added] = priorities_.try_emplace(key_of(runnables[i]), 0);
    if (added) at->second = random_();
    if (at->second >= highest) {
      highest = at->second;
      best = i;
    }
  }
  // Its next event is a new one. So are, for it, events that touch what this one touches.
  const auto footprint = runnables[best].footprint();
  for (std::size_t i = 0; i < runnables.size(); ++i) {
    const auto meets = [&] {
      for (const auto& [object, changes] : runnables[i].footprint())
        for (const auto& [other, also] : footprint)
          if (object == other && (changes || also)) return true;
      return false;
    };
    if (i == best || (!footprint.empty() && meets())) priorities_[key_of(runnables[i])] = random_();
  }
  return best;
}

std::optional<std::size_t> PosStrategy::interrupt(const Runnable&,
                                                  std::span<const Runnable> runnables) {
  if (random_() % seldom != 0) return std::nullopt;
  return pick(runnables);
}

std::size_t SurwStrategy::pick(std::span<const Runnable> runnables) {
  std::uint64_t total = 0;
  const auto weight = [&](const Runnable& runnable) -> std::uint64_t {
    const auto left = left_.find({runnable.actor(), runnable.id()});
    return left == left_.end() || left->second == 0 ? 1 : left->second;
  };
  for (const auto& runnable : runnables) total += weight(runnable);
  auto ball = random_() % total;
  std::size_t chosen = 0;
  while (ball >= weight(runnables[chosen])) ball -= weight(runnables[chosen++]);
  const std::pair<std::string, std::uint64_t> key(runnables[chosen].actor(),
                                                  runnables[chosen].id());
  ++made_[key];
  if (const auto left = left_.find(key); left != left_.end() && left->second > 0) --left->second;
  return chosen;
}

std::optional<std::size_t> SurwStrategy::interrupt(const Runnable&,
                                                   std::span<const Runnable> runnables) {
  if (random_() % seldom != 0) return std::nullopt;
  return pick(runnables);
}

std::size_t MutatingStrategy::pick(std::span<const Runnable> runnables) {
  return at_ < prefix_.size() ? prefix_[at_++] % runnables.size() : random_.pick(runnables);
}

std::optional<std::size_t> MutatingStrategy::interrupt(const Runnable& running,
                                                       std::span<const Runnable> runnables) {
  if (at_ >= prefix_.size()) return random_.interrupt(running, runnables);
  const auto pick = prefix_[at_++] % (runnables.size() + 1);
  return pick == 0 ? std::nullopt : std::optional<std::size_t>(pick - 1);
}

}  // namespace polychron::stress
