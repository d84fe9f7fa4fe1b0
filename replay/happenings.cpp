#include "replay/happenings.hpp"

#include <algorithm>
#include <deque>

namespace polychron::replay {

using trace::name_in;

msg::Ticket ticket_of(const trace::Records& records, const recording::Sent& sent,
                      const std::map<ContextAndActor, Role>& roles) {
  const auto& name = name_in(records.messages, std::size_t{sent.about.message} + 1);
  if (name == "reached") return number_of_question(sent.footprint.turn, sent.footprint.lane);
  if (name != "await_turn") return sent.about.ticket;
  const auto asks = roles.find({sent.context, sent.from});
  return number_of_question(sent.footprint.turn, asks == roles.end() ? 0 : asks->second.number);
}

std::optional<Place> Happenings::last_of(const Key& actor, std::int64_t at) const {
  const auto all = of_actor.find(actor);
  if (all == of_actor.end()) return std::nullopt;
  const auto next =
      std::ranges::upper_bound(all->second, at, {}, [this](Place p) { return turns[p].at; });
  if (next == all->second.begin()) return std::nullopt;
  return *std::prev(next);
}

std::optional<Place> Happenings::previous(Place place) const {
  const auto index = index_.find(place);
  if (index == index_.end() || index->second == 0) return std::nullopt;
  return of_actor.at(turns[place].actor)[index->second - 1];
}

void Happenings::collect(const std::map<ContextAndTime, std::size_t>& calls,
                         const std::vector<Call>& made) {
  for (const auto& r : records.lost)
    if (r.first) lost_.try_emplace(r.context, &r);
  for (const auto& [key, role] : roles)
    if (role.kind == "context") contexts_.emplace(key);
  add_handlings();
  add_operations();
  add_rejections();
  add_calls(calls, made);
  keep_actors_in_order();
}

void Happenings::add_handlings() {
  std::map<std::uint64_t, std::deque<std::size_t>> compiles;  // whose ends are to come
  for (std::size_t i = 0; i < records.handled.size(); ++i) {
    const auto& r = records.handled[i];
    const auto& name = message(r.kind);
    const auto role = roles.find({r.context, r.by});
    if (role == roles.end()) continue;
    // The compiler's work ends when the context hears of it, and shows nowhere before.
    if (name == "compile") compiles[r.context].push_back(i);
    if (name == "submit" || role->second.kind == "compiler") continue;
    const auto* const sent = matches[i] ? &records.sent[*matches[i]].record : nullptr;
    const auto ticket = sent != nullptr ? ticket_of(records, *sent, roles) : 0;
    const Key actor{r.context, r.by};
    std::optional<Place> compiled;
    if (auto& begun = compiles[r.context]; name == "compiled" && !begun.empty()) {
      const auto& compile = records.handled[begun.front()];
      compiled = add(r.begin, 0, {r.context, compile.by},
                     {Turn::Kind::message, 0, {role->second.context, "compiler", 0}, "compile", 0});
      handlings[begun.front()] = *compiled;
      begun.pop_front();
    }
    const auto handling =
        add(r.begin, 1, actor, {Turn::Kind::message, 0, role->second, name, ticket});
    put(compiled, handling);
    handlings[i] = handling;
    if (name == "actor_failed") goings.try_emplace(r.context, handling);
  }
}

void Happenings::add_operations() {
  for (const auto& r : records.carried) {
    const auto role = roles.find({r.context, r.lane});
    if (role == roles.end()) continue;
    const Key actor{r.context, r.lane};
    const Key key{r.context, r.ticket};
    const auto lost = lost_.find(r.context);
    const bool loses =
        lost != lost_.end() && lost->second->by == r.lane && lost->second->ticket == r.ticket;
    // What others did meanwhile they did before the loss.
    const auto operation = add(loses ? lost->second->at : r.begin, 2, actor,
                               {Turn::Kind::operation, 0, role->second, "", r.ticket});
    operations[key] = operation;
    if (loses) losses.try_emplace(r.context, operation);
    const auto end = r.begin + static_cast<std::int64_t>(r.duration);
    ends[key] = add(end, 3, actor, {Turn::Kind::end, 0, role->second, "", r.ticket});
  }
}

void Happenings::add_rejections() {
  for (const auto& r : records.rejected) {
    const auto role = roles.find({r.context, r.by});
    if (role == roles.end()) continue;
    rejections[{r.context, r.ticket}] =
        add(r.at, 2, {r.context, r.by}, {Turn::Kind::rejection, 0, role->second, "", r.ticket});
  }
}

/// A call is taken when its context handles it; but from the call that destroys a context on
/// nothing begins, and its handling is the end of the others.
void Happenings::add_calls(const std::map<ContextAndTime, std::size_t>& calls,
                           const std::vector<Call>& made) {
  const std::string name = msg::DestroyContext::name;
  std::map<std::uint64_t, std::int64_t> destroyed;  // of each context the first
  for (const auto& [thread, r] : records.sent)
    if (message(r.about.message) == "submit" && name_in(records.calls, r.about.what) == name)
      destroyed.try_emplace(r.context, r.at);
  for (const auto& [key, index] : calls) {
    const auto context = key.first;
    if (!made[index].ends) {
      add(key.second, 1, {context, contexts_[context]}, {Turn::Kind::call, index, {}, {}, 0});
      continue;
    }
    auto at = key.second;
    if (destroyed.contains(context)) at = std::min(at, destroyed.at(context));
    const auto lost = lost_.find(context);
    const bool first = !losses.contains(context);
    if (first && lost != lost_.end()) at = std::min(at, lost->second->at);
    const auto call = add(at, 1, {context, 0}, {Turn::Kind::call, index, {}, {}, 0});
    if (first) losses.emplace(context, call);
    if (made[index].untaken) continue;
    const auto role = roles.find({context, contexts_[context]});
    if (role == roles.end()) continue;
    const auto going =
        add(key.second, 1, role->first, {Turn::Kind::going, index, role->second, {}, 0});
    put(call, going);
    if (const auto known = goings.find(context);
        known == goings.end() || turns[known->second].at > key.second)
      goings[context] = going;
  }
}

void Happenings::keep_actors_in_order() {
  for (const auto place : before.as_seen()) {
    const auto& actor = turns[place].actor;
    if (actor.second == 0) continue;
    auto& all = of_actor[actor];
    if (!all.empty()) before.put(all.back(), place);
    index_[place] = all.size();
    all.push_back(place);
  }
}

}  // namespace polychron::replay
