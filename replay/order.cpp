#include "replay/order.hpp"

#include <algorithm>

namespace polychron::replay {

void RecordedOrder::begin(msg::ActorId first, std::vector<const Listener*> listeners) {
  first_ = first;
  listeners_ = std::move(listeners);
}

void RecordedOrder::next() {
  ++at_;
  called_ = false;
}

std::optional<msg::ActorId> RecordedOrder::wanted() const {
  const auto& turn = script_.order[at_];
  if (!turn.call) return listeners_[turn.role.context]->actor_of(turn.role);
  const auto context = script_.calls[*turn.call].context;
  return listeners_[context]->actor_of({context, "context", 0});
}

std::optional<std::size_t> RecordedOrder::find(std::span<const stress::Runnable> runnables) {
  const auto place_of = [&](stress::Name name) -> std::optional<std::size_t> {
    const auto place = std::ranges::find(runnables, name, &stress::Runnable::name);
    if (place == runnables.end()) return std::nullopt;
    return static_cast<std::size_t>(place - runnables.begin());
  };
  const auto& turn = script_.order[at_];
  if (turn.call && !called_) {
    called_ = true;
    return place_of(stress::first_client);
  }
  const auto actor = wanted();
  return actor ? place_of(*actor - first_) : std::nullopt;
}

std::size_t RecordedOrder::pick(std::span<const stress::Runnable> runnables) {
  // Who has only to begin, or to end, does so as soon as it can.
  const auto idle = std::ranges::find_if(runnables, [](const stress::Runnable& runnable) {
    return !runnable.is_client() && !runnable.is_callbacks() && runnable.message().empty();
  });
  if (idle != runnables.end()) return static_cast<std::size_t>(idle - runnables.begin());
  if (listeners_.empty()) return 0;
  while (at_ < script_.order.size()) {
    if (const auto place = find(runnables)) return *place;
    ++passed_over_;
    next();
  }
  return 0;
}

void RecordedOrder::took(std::size_t call) {
  if (at_ < script_.order.size() && script_.order[at_].call == call) next();
}

void RecordedOrder::handled(msg::ActorId by, std::string_view message, msg::Ticket ticket) {
  if (listeners_.empty() || at_ >= script_.order.size()) return;
  const auto& turn = script_.order[at_];
  if (!turn.call && turn.message == message && turn.ticket == ticket && wanted() == by) next();
}

}  // namespace polychron::replay
