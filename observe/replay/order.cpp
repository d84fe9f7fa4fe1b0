#include "observe/replay/order.hpp"

#include <algorithm>
#include <system_error>

namespace polychron::replay {

namespace {

std::uint32_t number_of(const msg::MessageView& message) {
  return static_cast<std::uint32_t>(message.index());
}
/// Between lanes.
bool is_question(std::uint32_t message) {
  return message == recording::message_number<msg::await_turn> ||
         message == recording::message_number<msg::reached>;
}

}  // namespace

RecordedOrder::RecordedOrder(const Script& script) : script_(script) {
  for (const auto& turn : script.order) {
    if (turn.kind == Turn::Kind::leaving) leaving_.insert(turn.role);
    if (is_question(turn.message)) ++questions_[{turn.role, turn.message, turn.ticket}];
  }
}

void RecordedOrder::run(stress::World& world, std::vector<const Listener*> listeners) {
  world_ = &world;
  listeners_ = std::move(listeners);
  drivers_.run([&world] { return world.step(); },
               [this] { return ended() ? std::nullopt : wanted(); });
  world_ = nullptr;  // turns may be left, if a damaged recording has some that come of nothing
}

void RecordedOrder::next() {
  if (is_question(turn().message)) --questions_[{turn().role, turn().message, turn().ticket}];
  if (turn().kind == Turn::Kind::leaving) leaving_.erase(turn().role);
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

bool RecordedOrder::is_late(msg::ActorId actor, const msg::MessageView& message) const {
  if (ended()) return false;
  const auto number = number_of(message);
  const bool question = is_question(number);
  if (late_ == 0 && !question) return false;
  const auto ticket = ticket_of(message);
  if (const auto early = early_.find({actor, number, ticket});
      early != early_.end() && early->second < 0)
    return true;
  if (!question) return false;
  for (std::size_t context = 0; context < script_.contexts.size(); ++context)
    for (std::size_t lane = 0; lane < script_.contexts[context].lanes; ++lane) {
      const Role role{context, "device", lane};
      if (listeners_[context]->actor_of(role) != actor) continue;
      const auto due = questions_.find({role, number, ticket});
      if (due != questions_.end() && due->second > 0) return false;
      return !script_.unheard.contains({role, number, ticket});
    }
  return true;
}

bool RecordedOrder::leaves_later(msg::ActorId actor) const {
  return begun_.contains(actor) && std::ranges::any_of(listeners_, [&](const Listener* listener) {
           const auto role = listener->role_of(actor);
           return role && leaving_.contains(*role);
         });
}

std::optional<std::size_t> RecordedOrder::idle(Runnables runnables) const {
  for (std::size_t i = 0; i < runnables.size(); ++i) {
    const auto& runnable = runnables[i];
    if (runnable.is_client() || runnable.is_callbacks()) continue;
    const bool nothing_to_handle = runnable.message().empty();
    if (ended()) {
      if (nothing_to_handle) return i;
      continue;
    }
    const auto actor = runnable.name() + world_->first_id();
    if (nothing_to_handle && !leaves_later(actor)) return i;
    const bool asks = runnable.actor() == std::string_view("device");
    if (late_ == 0 && !asks) continue;
    if (runnable.prefer([&](const msg::MessageView& m) { return is_late(actor, m); })) return i;
  }
  return std::nullopt;
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
    // This call loses its context at once; the context's actor hears of it later.
    if (kind == Turn::Kind::call && script_.calls[turn().call].ends) continue;
    const auto actor = wanted();
    const Stop stop{kind, turn().role.context, turn().ticket};
    const bool in_the_middle =
        kind == Turn::Kind::operation || kind == Turn::Kind::end || kind == Turn::Kind::rejection;
    if (in_the_middle && past_.contains(stop)) continue;
    if (kind == Turn::Kind::message && actor && was_early(*actor)) continue;
    const auto stopped = actor ? stopped_.find(*actor) : stopped_.end();
    if (stopped != stopped_.end()) {
      if (stopped->second == stop) return std::nullopt;
      // It has stopped at what comes later, and gets to this after that.
    } else if (actor && !in_the_middle) {
      const auto place = place_of(*actor - world_->first_id());
      if (place && kind == Turn::Kind::leaving) {
        if (runnables[*place].message().empty() && begun_.contains(*actor)) return place;
      } else if (place &&
                 runnables[*place].prefer([&](const auto& message) { return is_next(message); })) {
        return place;
      }
    }
    if (in_the_middle) {
      past_.insert(stop);
    } else if (kind == Turn::Kind::message && actor && !left_.contains(*actor)) {
      --early_[{*actor, turn().message, turn().ticket}];
      ++late_;
    }
  }
  return std::nullopt;
}

bool RecordedOrder::is_next(const msg::MessageView& message) const {
  if (turn().kind == Turn::Kind::message)
    return ticket_of(message) == turn().ticket && number_of(message) == turn().message;
  const auto* const* const submit = std::get_if<const msg::submit*>(&message);
  return submit != nullptr && std::holds_alternative<msg::DestroyContext>((*submit)->call) ==
                                  (turn().kind == Turn::Kind::going);
}

std::size_t RecordedOrder::pick(Runnables runnables) { return idle(runnables).value_or(0); }

std::optional<std::size_t> RecordedOrder::choose(Runnables runnables) {
  if (const auto place = idle(runnables)) return *place;
  if (const auto place = find(runnables)) return *place;
  return ended() ? std::optional<std::size_t>(0) : std::nullopt;
}

void RecordedOrder::took(std::size_t call) {
  const bool awaited =
      !ended() && (turn().kind == Turn::Kind::call || turn().kind == Turn::Kind::going);
  if (awaited && turn().call == call) next();
}

void RecordedOrder::left(msg::ActorId actor) {
  left_.insert(actor);
  if (!ended() && turn().kind == Turn::Kind::leaving && wanted() == actor) next();
  auto early = early_.lower_bound({actor, 0, 0});
  while (early != early_.end() && std::get<0>(early->first) == actor) {
    late_ += std::min(early->second, 0);
    early = early_.erase(early);
  }
}

void RecordedOrder::handled(msg::ActorId by, std::uint32_t message, msg::Ticket ticket) {
  if (ended()) return;
  if (turn().kind == Turn::Kind::message && turn().message == message && turn().ticket == ticket &&
      wanted() == by)
    return next();
  auto& early = early_[{by, message, ticket}];
  if (early++ < 0) --late_;
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
