#include "replay/turns.hpp"

#include <algorithm>
#include <tuple>

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

namespace {

class Turns {
 public:
  Turns(const trace::Records& records, const std::map<ContextAndActor, Role>& roles)
      : records_(records), roles_(roles) {}

  void add_actors(const std::vector<std::optional<std::size_t>>& matches) {
    for (std::size_t i = 0; i < records_.handled.size(); ++i) {
      const auto& r = records_.handled[i];
      const auto& name = name_in(records_.messages, std::size_t{r.kind} + 1);
      if (name == "submit") continue;  // the calls have turns
      const auto ticket =
          matches[i] ? ticket_of(records_, records_.sent[*matches[i]].record, roles_) : 0;
      add(r.clock, {r.context, r.by}, Turn::Kind::message, ticket, name);
    }
    for (const auto& r : records_.carried) {
      add(r.clock, {r.context, r.lane}, Turn::Kind::operation, r.ticket);
      add(r.end_clock, {r.context, r.lane}, Turn::Kind::end, r.ticket);
    }
    for (const auto& r : records_.rejected)
      add(r.clock, {r.context, r.by}, Turn::Kind::rejection, r.ticket);
    for (const auto& r : records_.ended)
      add(r.clock, {r.context, r.actor}, Turn::Kind::leaving, 0);
  }
  /// A call has its turn when its context takes it. One that destroys the context has another
  /// before: when the context was lost by it.
  void add_calls(const std::vector<Call>& made) {
    std::map<std::size_t, ContextAndActor> contexts;  // their actors
    for (const auto& [key, role] : roles_)
      if (role.kind == "context") contexts[role.context] = key;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const auto& call = made[i];
      const auto actor = contexts[call.context];
      if (!call.ends) {
        add(call.clock, actor, {Turn::Kind::call, i, {}, {}, 0});
        continue;
      }
      add(call.lost_clock, {actor.first, 0}, {Turn::Kind::call, i, {}, {}, 0});
      if (const auto role = roles_.find(actor); !call.untaken && role != roles_.end())
        add(call.clock, actor, {Turn::Kind::going, i, role->second, {}, 0});
    }
  }
  std::vector<Turn> in_order() {
    std::ranges::stable_sort(turns_, {},
                             [](const auto& timed) { return std::tie(timed.clock, timed.actor); });
    std::vector<Turn> order;
    for (auto& timed : turns_) order.push_back(std::move(timed.turn));
    return order;
  }

 private:
  struct Timed {
    recording::LogicalTime clock;
    ContextAndActor actor;
    Turn turn;
  };
  void add(recording::LogicalTime clock, ContextAndActor actor, Turn turn) {
    turns_.push_back({clock, actor, std::move(turn)});
  }
  void add(recording::LogicalTime clock, ContextAndActor actor, Turn::Kind kind, msg::Ticket ticket,
           const std::string& message = {}) {
    if (const auto role = roles_.find(actor); role != roles_.end())
      add(clock, actor, {kind, 0, role->second, message, ticket});
  }

  const trace::Records& records_;
  const std::map<ContextAndActor, Role>& roles_;
  std::vector<Timed> turns_;
};

}  // namespace

std::vector<Turn> order_of(const trace::Records& records,
                           const std::vector<std::optional<std::size_t>>& matches,
                           const std::map<ContextAndActor, Role>& roles,
                           const std::vector<Call>& made) {
  Turns turns(records, roles);
  turns.add_actors(matches);
  turns.add_calls(made);
  return turns.in_order();
}

}  // namespace polychron::replay
