#include "replay/order.hpp"

#include <algorithm>
#include <system_error>

namespace polychron::replay {

void RecordedOrder::run(stress::World& world, std::vector<const Listener*> listeners) {
  world_ = &world;
  listeners_ = std::move(listeners);
  drivers_.run([&world] { return world.step(); },
               [this] { return ended() ? std::nullopt : wanted(); });
}

void RecordedOrder::next() {
  ++at_;
  called_ = false;
}

std::optional<msg::ActorId> RecordedOrder::wanted() const {
  if (turn().kind != Turn::Kind::call)
    return listeners_[turn().role.context]->actor_of(turn().role);
  const auto context = script_.calls[turn().call].context;
  return listeners_[context]->actor_of({context, "context", 0});
}

bool RecordedOrder::was_early(msg::ActorId actor) {
  const auto early = early_.find({actor, turn().message, turn().ticket});
  if (early == early_.end() || early->second <= 0) return false;
  --early->second;
  return true;
}

std::optional<std::size_t> RecordedOrder::idle(Runnables runnables) {
  const auto place = std::ranges::find_if(runnables, [](const stress::Runnable& runnable) {
    if (runnable.is_client() || runnable.is_callbacks()) return false;
    const auto message = runnable.message();
    return message.empty() || message == "await_turn" || message == "reached";
  });
  if (place == runnables.end()) return std::nullopt;
  return static_cast<std::size_t>(place - runnables.begin());
}

std::optional<std::size_t> RecordedOrder::find(Runnables runnables) {
  const auto place_of = [&](stress::Name name) -> std::optional<std::size_t> {
    const auto place = std::ranges::find(runnables, name, &stress::Runnable::name);
    if (place == runnables.end()) return std::nullopt;
    return static_cast<std::size_t>(place - runnables.begin());
  };
  for (; !ended(); next()) {
    const auto kind = turn().kind;
    if (kind == Turn::Kind::call && !called_) {
      called_ = true;
      if (const auto client = place_of(stress::first_client)) return client;
    }
    const auto actor = wanted();
    const Stop stop{kind, turn().role.context, turn().ticket};
    const bool in_the_middle = kind != Turn::Kind::call && kind != Turn::Kind::message;
    if (in_the_middle && past_.contains(stop)) continue;
    if (kind == Turn::Kind::message && actor && was_early(*actor)) continue;
    const auto stopped = actor ? stopped_.find(*actor) : stopped_.end();
    if (stopped != stopped_.end()) {
      if (stopped->second == stop) return std::nullopt;
      // It has stopped at what comes later, and gets to this after that.
    } else if (actor) {
      if (const auto place = place_of(*actor - world_->first_id())) return place;
    }
    if (in_the_middle)
      past_.insert(stop);
    else if (kind == Turn::Kind::message && actor)
      --early_[{*actor, turn().message, turn().ticket}];
  }
  return std::nullopt;
}

std::size_t RecordedOrder::pick(Runnables runnables) { return idle(runnables).value_or(0); }

std::optional<std::size_t> RecordedOrder::choose(Runnables runnables) {
  if (const auto place = idle(runnables)) return *place;
  if (const auto place = find(runnables)) return *place;
  return ended() ? std::optional<std::size_t>(0) : std::nullopt;
}

void RecordedOrder::took(std::size_t call) {
  if (!ended() && turn().kind == Turn::Kind::call && turn().call == call) next();
}

void RecordedOrder::handled(msg::ActorId by, std::string_view message, msg::Ticket ticket) {
  if (ended()) return;
  if (turn().kind == Turn::Kind::message && turn().message == message && turn().ticket == ticket &&
      wanted() == by)
    next();
  else
    ++early_[{by, std::string(message), ticket}];
}

void RecordedOrder::reaches(Turn::Kind kind, std::size_t context, msg::ActorId actor,
                            msg::Ticket ticket) {
  const auto is_next = [&] {
    return !ended() && turn().kind == kind && turn().role.context == context &&
           turn().ticket == ticket;
  };
  const Stop stop{kind, context, ticket};
  if (!ended() && !is_next() && !past_.contains(stop)) {
    stopped_.emplace(actor, stop);
    try {
      drivers_.stop(actor);
    } catch (const std::system_error&) {  // no thread for the others: it goes on at once
    }
    stopped_.erase(actor);
  }
  past_.insert(stop);
  if (is_next()) next();
}

}  // namespace polychron::replay
