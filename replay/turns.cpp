#include "replay/turns.hpp"

#include <algorithm>
#include <deque>
#include <set>

#include "replay/before.hpp"
#include "trace/errors.hpp"

namespace polychron::replay {

namespace {

using trace::name_in;
using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< context, and a number in it

/// Times are of beginnings, and threads may be kept waiting at any place: where what followed tells
/// who was first, that counts.
class Ordering {
 public:
  Ordering(const trace::Records& records, const std::vector<std::optional<std::size_t>>& matches,
           const std::map<ContextAndActor, Role>& roles)
      : records_(records), matches_(matches), roles_(roles) {}

  std::vector<Turn> run(const std::map<ContextAndTime, std::size_t>& calls,
                        const std::vector<Call>& made) {
    find_losses();
    add_handlings();
    add_operations();
    add_rejections();
    add_calls(calls, made);
    keep_actors_in_order();
    settle_messages();
    settle_claims();
    settle_waits();
    settle_ends();
    settle_rests();
    std::vector<Turn> order;
    for (const auto place : before_.sorted()) order.push_back(std::move(turns_[place].turn));
    return order;
  }

 private:
  using Kind = Turn::Kind;
  using Place = std::size_t;  ///< in turns_
  struct Placed {
    std::int64_t at;
    Key actor;
    Turn turn;
  };
  const std::string& message(std::uint32_t number) const {
    return name_in(records_.messages, std::size_t{number} + 1);
  }
  Place add(std::int64_t at, int rank, Key actor, Turn turn) {
    turns_.push_back({at, actor, std::move(turn)});
    return before_.add({at, rank});
  }
  /// What an actor did last by then.
  std::optional<Place> last_of(const Key& actor, std::int64_t at) const {
    const auto all = of_actor_.find(actor);
    if (all == of_actor_.end()) return std::nullopt;
    const auto next =
        std::ranges::upper_bound(all->second, at, {}, [this](Place p) { return turns_[p].at; });
    if (next == all->second.begin()) return std::nullopt;
    return *std::prev(next);
  }
  void put(const std::optional<Place>& earlier, Place later) {
    if (earlier) before_.put(*earlier, later);
  }

  /// Operations in which a device was lost, and when it was; or that was after the context had
  /// gone, which then does not hear of it.
  void find_losses() {
    const auto tells_of_loss = [](std::string_view lines) {
      const auto chain = trace::errors_in(lines);
      return !chain.empty() && chain.back().kind == "context_lost" && chain.front().ran;
    };
    for (const auto& [thread, r] : records_.sent) {
      if (r.about.error.empty() || !tells_of_loss(r.about.error)) continue;
      const Key key{r.context, r.about.ticket};
      if (message(r.about.message) == "operation_failed") losses_.try_emplace(key, r.at);
      unheard_.insert(key);
    }
    for (const auto& r : records_.answered)
      if (tells_of_loss(r.error)) unheard_.emplace(r.context, r.ticket);
    for (const auto& [key, at] : losses_) unheard_.erase(key);
  }

  void add_handlings() {
    for (std::size_t i = 0; i < records_.handled.size(); ++i) {
      const auto& r = records_.handled[i];
      const auto& name = message(r.kind);
      const auto role = roles_.find({r.context, r.by});
      if (role == roles_.end()) continue;
      if (role->second.kind == "context") contexts_[r.context] = r.by;
      // The compiler's work ends when the context hears of it, and shows nowhere before.
      if (name == "compile") compiles_[r.context].push_back(i);
      if (name == "submit" || role->second.kind == "compiler") continue;
      const auto* const sent = matches_[i] ? &records_.sent[*matches_[i]].record : nullptr;
      msg::Ticket ticket = sent != nullptr ? sent->about.ticket : 0;
      if (sent != nullptr && (name == "await_turn" || name == "reached"))
        ticket = sent->footprint.turn;
      const Key actor{r.context, r.by};
      std::optional<Place> compiled;
      if (auto& compiles = compiles_[r.context]; name == "compiled" && !compiles.empty()) {
        const auto& compile = records_.handled[compiles.front()];
        compiled = add(r.begin, 0, {r.context, compile.by},
                       {Kind::message, 0, {role->second.context, "compiler", 0}, "compile", 0});
        handlings_[compiles.front()] = *compiled;
        compiles.pop_front();
      }
      const auto handling = add(r.begin, 1, actor, {Kind::message, 0, role->second, name, ticket});
      put(compiled, handling);
      handlings_[i] = handling;
      if (name == "end_lease" && matches_[i] && is_revoked(*matches_[i])) revoked_.insert(handling);
      if (name == "actor_failed") failures_.try_emplace(r.context, handling);
    }
  }

  /// Whether this end of a lease is that of its tensor, which hears of it first.
  bool is_revoked(std::size_t sent) const {
    const auto& end = records_.sent[sent].record;
    while (sent-- > 0) {
      const auto& r = records_.sent[sent].record;
      if (r.context != end.context || r.from != end.from) continue;
      if (const auto& name = message(r.about.message); name != "end_lease")
        return name == "destroy_tensor";
    }
    return false;
  }

  void add_operations() {
    for (const auto& r : records_.carried) {
      const auto role = roles_.find({r.context, r.lane});
      if (role == roles_.end()) continue;
      const Key actor{r.context, r.lane};
      const Key key{r.context, r.ticket};
      const auto loss = losses_.find(key);
      const auto operation = add(loss == losses_.end() ? r.begin : loss->second, 2, actor,
                                 {Kind::operation, 0, role->second, "", r.ticket});
      operations_[key] = operation;
      if (loss != losses_.end()) ends_.try_emplace(r.context, operation);
      const auto end = r.begin + static_cast<std::int64_t>(r.duration);
      add(end, 3, actor, {Kind::end, 0, role->second, "", r.ticket});
    }
  }

  void add_rejections() {
    for (const auto& r : records_.rejected) {
      const auto role = roles_.find({r.context, r.by});
      if (role == roles_.end()) continue;
      rejections_[{r.context, r.ticket}] =
          add(r.at, 2, {r.context, r.by}, {Kind::rejection, 0, role->second, "", r.ticket});
    }
  }

  /// A call is taken when its context handles it; but from the call that destroys a context on
  /// nothing begins.
  void add_calls(const std::map<ContextAndTime, std::size_t>& calls,
                 const std::vector<Call>& made) {
    const std::string name = msg::DestroyContext::name;
    std::map<std::uint64_t, std::int64_t> destroyed;  // of each context the first
    for (const auto& [thread, r] : records_.sent)
      if (message(r.about.message) == "submit" && name_in(records_.calls, r.about.what) == name)
        destroyed.try_emplace(r.context, r.at);
    for (const auto& [key, index] : calls) {
      const auto context = key.first;
      auto at = key.second;
      const bool ends = made[index].ends;
      if (ends && destroyed.contains(context)) at = destroyed.at(context);
      // What ends it may have come before what it handled first.
      const auto call =
          add(at, 1, {context, ends ? 0 : contexts_[context]}, {Kind::call, index, {}, {}, 0});
      if (ends) ends_.try_emplace(context, call);
    }
  }

  void keep_actors_in_order() {
    for (const auto place : before_.as_seen()) {
      const auto& actor = turns_[place].actor;
      if (actor.second == 0) continue;
      auto& all = of_actor_[actor];
      if (!all.empty()) before_.put(all.back(), place);
      all.push_back(place);
    }
  }

  /// A message is sent before it is handled. Not so what a lane tells of an operation in which its
  /// device is lost: others hear of it and go on before the context is lost, which is one thing in
  /// a replay.
  void settle_messages() {
    for (const auto& [i, handling] : handlings_) {
      if (!matches_[i]) continue;
      const auto& sent = records_.sent[*matches_[i]].record;
      const auto by = last_of({sent.context, sent.from}, sent.at);
      const auto end = ends_.find(sent.context);
      if (by && end != ends_.end() && *by == end->second &&
          message(sent.about.message) != "actor_failed")
        continue;
      put(by, handling);
    }
  }

  /// A lane and the tensor's actor may both want to answer a read: who did was first.
  void settle_claims() {
    std::set<Key> answered;
    for (const auto& r : records_.answered) answered.emplace(r.context, r.ticket);
    for (const auto& [thread, r] : records_.sent) {
      const Key key{r.context, r.about.ticket};
      const auto& name = name_in(records_.operations, r.about.what);
      if (message(r.about.message) != "carry_out" || (name != "read" && name != "compute"))
        continue;
      const auto operation = operations_.find(key);
      if (operation == operations_.end()) continue;
      const bool was_late = !answered.contains(key);
      if (was_late) late_.insert(key);
      if (const auto rejection = rejections_.find(key); rejection != rejections_.end()) {
        if (was_late)
          before_.put(rejection->second, operation->second);
        else
          before_.put(operation->second, rejection->second);
      }
    }
  }

  /// A lane that asked another had not yet seen how far that one was, which lets others see it
  /// when it has handled a message.
  void settle_waits() {
    std::map<Key, std::vector<std::pair<std::int64_t, std::int64_t>>> handlings;
    for (const auto& r : records_.handled)
      if (message(r.kind) == "carry_out" || message(r.kind) == "reached")
        handlings[{r.context, r.by}].emplace_back(r.begin,
                                                  r.begin + static_cast<std::int64_t>(r.duration));
    for (const auto& [thread, r] : records_.sent) {
      if (message(r.about.message) != "await_turn") continue;
      const Key other{r.context, r.to};
      const auto& all = handlings[other];
      auto at_work = std::ranges::upper_bound(all, r.at, {}, [](const auto& h) { return h.first; });
      if (at_work == all.begin() || (--at_work)->second < r.at) continue;
      const auto asks = last_of({r.context, r.from}, r.at), shows = last_of(other, at_work->second);
      if (asks && shows) before_.put(*asks, *shows);
    }
  }

  /// What was begun or taken was so before the context was lost: be it destroyed, or its device
  /// lost in the middle of an operation.
  void settle_ends() {
    for (const auto& key : unheard_)
      if (operations_.contains(key)) late_.insert(key);
    for (const auto& [thread, r] : records_.sent)
      if (const auto end = ends_.find(r.context);
          end != ends_.end() && message(r.about.message) == "carry_out")
        put(last_of({r.context, r.from}, r.at), end->second);
    for (Place place = 0; place < turns_.size(); ++place) {
      const auto& [at, actor, turn] = turns_[place];
      if (turn.kind == Kind::message) continue;
      const auto end = ends_.find(actor.first);
      if (end == ends_.end() || end->second == place) continue;
      if (turn.kind == Kind::call && actor.second == 0) continue;  // it destroys what is lost
      const bool own = turn.kind == Kind::end && turn.ticket == turns_[end->second].turn.ticket;
      if (!own && !late_.contains({actor.first, turn.ticket})) before_.put(place, end->second);
    }
    for (const auto& key : late_)
      if (const auto end = ends_.find(key.first);
          end != ends_.end() && !rejections_.contains(key)) {
        const auto late = operations_.at(key);
        before_.put(end->second, late);
        // Its lane had looked by then whether the context was lost.
        const auto& all = of_actor_.at(turns_[late].actor);
        if (const auto own = std::ranges::find(all, late); own != all.begin())
          before_.put(*std::prev(own), end->second);
        // A device that is lost in a lane ends the context when that hears of it.
        if (const auto failure = failures_.find(key.first); failure != failures_.end())
          before_.put(failure->second, late);
      }
  }

  /// A context is lost some time before others are told: what lanes handled last, and nothing came
  /// of it, they had found that out.
  void settle_rests() {
    std::map<std::uint64_t, std::int64_t> last;  // that a lane of the context did
    std::map<Key, std::int64_t> last_of_lane;
    const auto is_lane = [this](const Key& actor) {
      const auto role = roles_.find(actor);
      return role != roles_.end() && role->second.kind == "device";
    };
    const auto shows = [&](const Key& actor, std::int64_t at) {
      if (!is_lane(actor)) return;
      last[actor.first] = std::max(last[actor.first], at);
      last_of_lane[actor] = std::max(last_of_lane[actor], at);
    };
    for (const auto& [at, actor, turn] : turns_)
      if (turn.kind != Kind::message) shows(actor, at);
    for (const auto& [thread, r] : records_.sent) shows({r.context, r.from}, r.at);
    for (Place place = 0; place < turns_.size(); ++place) {
      const auto& [at, actor, turn] = turns_[place];
      const auto end = ends_.find(actor.first);
      if (end == ends_.end() || !is_lane(actor)) continue;
      // What was lent comes back, and others may go on; but what went with its tensor is told.
      if (at > last[actor.first] || (revoked_.contains(place) && at > last_of_lane[actor]))
        before_.put(end->second, place);
    }
  }

  const trace::Records& records_;
  const std::vector<std::optional<std::size_t>>& matches_;
  const std::map<ContextAndActor, Role>& roles_;
  std::vector<Placed> turns_;
  Before before_;
  std::map<Key, std::vector<Place>> of_actor_;  ///< as seen
  std::map<std::size_t, Place> handlings_;      ///< by their places in Records::handled
  std::map<std::uint64_t, std::deque<std::size_t>> compiles_;  ///< whose ends are to come
  std::map<std::uint64_t, std::uint64_t> contexts_;            ///< their actors
  std::map<Key, Place> operations_, rejections_;               ///< by context and ticket
  std::set<Key> late_;                              ///< operations that came to be answered already
  std::map<Key, std::int64_t> losses_;              ///< of devices, by context and ticket
  std::set<Key> unheard_;                           ///< others
  std::set<Place> revoked_;                         ///< ends of leases that went with their tensors
  std::map<std::uint64_t, Place> ends_, failures_;  ///< of contexts
};

}  // namespace

std::vector<Turn> order_of(const trace::Records& records,
                           const std::vector<std::optional<std::size_t>>& matches,
                           const std::map<ContextAndActor, Role>& roles,
                           const std::map<ContextAndTime, std::size_t>& calls,
                           const std::vector<Call>& made) {
  return Ordering(records, matches, roles).run(calls, made);
}

}  // namespace polychron::replay
