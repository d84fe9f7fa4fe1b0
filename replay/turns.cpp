#include "replay/turns.hpp"

#include <algorithm>
#include <set>

#include "trace/errors.hpp"

namespace polychron::replay {

namespace {

using trace::name_in;
using Key = std::pair<std::uint64_t, std::uint64_t>;  ///< context, and a number in it

/// Times are of beginnings, and threads may be kept waiting at any place: where the outcome tells
/// who was first, the outcome counts.
class Ordering {
 public:
  Ordering(const trace::Records& records, const std::vector<std::optional<std::size_t>>& matches,
           const std::map<ContextAndActor, Role>& roles)
      : records_(records), matches_(matches), roles_(roles) {}

  std::vector<Turn> run(const std::map<ContextAndTime, std::size_t>& calls,
                        const std::vector<Call>& made) {
    add_handlings();
    add_operations();
    add_rejections();
    add_calls(calls, made);
    settle_claims();
    settle_ends();
    keep_actors_in_order();
    std::ranges::stable_sort(turns_, {}, &Placed::place);
    std::vector<Turn> order;
    for (auto& placed : turns_) order.push_back(std::move(placed.turn));
    return order;
  }

 private:
  /// Time, and what comes first at the same.
  using Place = std::pair<std::int64_t, int>;
  using Kind = Turn::Kind;
  struct Placed {
    Place seen, place;  ///< as recorded, and as it must have been
    Key actor;
    Turn turn;
  };
  const std::string& message(std::uint32_t number) const {
    return name_in(records_.messages, std::size_t{number} + 1);
  }
  void add(Place place, Key actor, Turn turn) {
    turns_.push_back({place, place, actor, std::move(turn)});
  }

  void add_handlings() {
    for (std::size_t i = 0; i < records_.handled.size(); ++i) {
      const auto& r = records_.handled[i];
      const auto& name = message(r.kind);
      const auto role = roles_.find({r.context, r.by});
      // The compiler's work ends when the context hears of it, and shows nowhere before.
      if (role == roles_.end() || name == "submit" || role->second.kind == "compiler") continue;
      const auto* const sent = matches_[i] ? &records_.sent[*matches_[i]].record : nullptr;
      const Key actor{r.context, r.by};
      if (name == "compiled")
        add({r.begin, 0}, {r.context, 0},
            {Kind::message, 0, {role->second.context, "compiler", 0}, "compile", 0});
      if (name == "actor_failed") failures_.try_emplace(r.context, turns_.size());
      add({r.begin, 1}, actor,
          {Kind::message, 0, role->second, name, sent != nullptr ? sent->about.ticket : 0});
    }
  }

  void add_operations() {
    for (const auto& r : records_.carried) {
      const auto role = roles_.find({r.context, r.lane});
      if (role == roles_.end()) continue;
      operations_[{r.context, r.ticket}] = turns_.size();
      add({r.begin, 2}, {r.context, r.lane}, {Kind::operation, 0, role->second, "", r.ticket});
      const auto end = r.begin + static_cast<std::int64_t>(r.duration);
      ends_[{r.context, r.ticket}] = end;
      add({end, 3}, {r.context, r.lane}, {Kind::end, 0, role->second, "", r.ticket});
    }
  }

  void add_rejections() {
    for (const auto& r : records_.rejected) {
      const auto role = roles_.find({r.context, r.by});
      if (role == roles_.end()) continue;
      rejections_[{r.context, r.ticket}] = turns_.size();
      add({r.at, 2}, {r.context, r.by}, {Kind::rejection, 0, role->second, "", r.ticket});
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
      auto at = key.second;
      if (made[index].ends && destroyed.contains(key.first)) at = destroyed.at(key.first);
      if (made[index].ends) context_ends_.try_emplace(key.first, turns_.size());
      // The place of its own: what ends it may have come before what it handled first.
      add({at, 1}, {key.first, made[index].ends ? 0 : context_actor},
          {Kind::call, index, {}, {}, 0});
    }
  }

  static void after(Place& later, const Place& earlier) {
    later = std::max(later, {earlier.first, earlier.second + 1});
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
      auto& op = turns_[operation->second].place;
      const bool was_late = !answered.contains(key);
      if (was_late) late_.insert(key);
      if (const auto rejection = rejections_.find(key); rejection != rejections_.end()) {
        auto& rejected = turns_[rejection->second].place;
        was_late ? after(op, rejected) : after(rejected, op);
      }
    }
  }

  /// What was begun or taken was so before the context was lost: be it destroyed, or its device
  /// lost in the middle of an operation.
  void settle_ends() {
    std::map<std::uint64_t, std::size_t> ends;
    for (const auto& [thread, r] : records_.sent) {
      if (message(r.about.message) != "operation_failed") continue;
      const auto chain = trace::errors_in(r.about.error);
      const auto lost = operations_.find({r.context, r.about.ticket});
      if (!chain.empty() && chain.back().kind == "context_lost" && lost != operations_.end())
        if (ends.try_emplace(r.context, lost->second).second)
          after(turns_[lost->second].place, {ends_.at({r.context, r.about.ticket}), 2});
    }
    ends.insert(context_ends_.begin(), context_ends_.end());
    for (const auto& [thread, r] : records_.sent)
      if (const auto end = ends.find(r.context);
          end != ends.end() && message(r.about.message) == "carry_out")
        after(turns_[end->second].place, {r.at, 2});
    for (auto& placed : turns_) {
      const bool call = placed.turn.kind == Kind::call;
      if (placed.turn.kind == Kind::message) continue;
      const auto context = placed.actor.first;
      const auto end = ends.find(context);
      if (end == ends.end() || &turns_[end->second] == &placed) continue;
      if (call && placed.actor.second == 0) continue;  // it destroys what is lost already
      if (!late_.contains({context, placed.turn.ticket}))
        after(turns_[end->second].place, placed.place);
    }
    for (const auto& key : late_)
      if (const auto end = ends.find(key.first); end != ends.end() && !rejections_.contains(key)) {
        auto& late = turns_[operations_.at(key)].place;
        after(late, turns_[end->second].place);
        // A device that is lost in a lane ends the context when that hears of it.
        if (const auto failure = failures_.find(key.first); failure != failures_.end())
          after(late, turns_[failure->second].place);
      }
  }

  void keep_actors_in_order() {
    std::ranges::stable_sort(turns_, {}, &Placed::seen);
    std::map<Key, Place> last;
    for (auto& placed : turns_) {
      if (placed.actor.second == 0) continue;
      auto& latest = last.try_emplace(placed.actor, placed.place).first->second;
      latest = placed.place = std::max(latest, placed.place);
    }
  }

  static constexpr std::uint64_t context_actor = ~std::uint64_t{0};

  const trace::Records& records_;
  const std::vector<std::optional<std::size_t>>& matches_;
  const std::map<ContextAndActor, Role>& roles_;
  std::vector<Placed> turns_;
  std::map<Key, std::size_t> operations_, rejections_;  ///< by context and ticket
  std::map<Key, std::int64_t> ends_;                    ///< of operations
  std::set<Key> late_;  ///< operations that came to be answered already
  std::map<std::uint64_t, std::size_t> context_ends_, failures_;
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
