#include "observe/replay/turns.hpp"

#include <algorithm>
#include <tuple>

namespace polychron::replay {

msg::Ticket ticket_of(const recording::Sent& sent, const std::map<ContextAndActor, Role>& roles) {
  const auto message = sent.about.message;
  if (message == recording::message_number<msg::reached>)
    return number_of_question(sent.footprint.turn, sent.footprint.lane);
  if (message != recording::message_number<msg::await_turn>) return sent.about.ticket;
  const auto asks = roles.find({sent.context, sent.from});
  return number_of_question(sent.footprint.turn, asks == roles.end() ? 0 : asks->second.number);
}

namespace {

class Turns {
 public:
  Turns(const trace::JoinedTrace& joined, const std::map<ContextAndActor, Role>& roles)
      : joined_(joined), records_(joined.records), roles_(roles) {}

  void add_actors() {
    for (std::size_t i = 0; i < records_.handled.size(); ++i) {
      const auto& r = records_.handled[i];
      if (r.kind == recording::message_number<msg::submit>) continue;  // the calls have turns
      const auto sent = joined_.sent_of_handled[i];
      const auto ticket = sent ? ticket_of(records_.sent[*sent].record, roles_) : 0;
      add(r.clock, {r.context, r.by}, Turn::Kind::message, ticket, r.kind);
    }
    for (const auto& r : records_.carried) {
      add(r.clock, {r.context, r.lane}, Turn::Kind::operation, r.ticket);
      add(r.end_clock, {r.context, r.lane}, Turn::Kind::end, r.ticket);
    }
    for (const auto& r : records_.rejected)
      add(r.clock, {r.context, r.by}, Turn::Kind::rejection, r.ticket);
    for (const auto& r : records_.ended) add(r.clock, {r.context, r.actor}, Turn::Kind::leaving, 0);
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
        add(call.clock, actor, {Turn::Kind::call, i, {}, no_message, 0});
        continue;
      }
      add(call.lost_clock, {actor.first, 0}, {Turn::Kind::call, i, {}, no_message, 0});
      if (const auto role = roles_.find(actor); !call.untaken && role != roles_.end())
        add(call.clock, actor, {Turn::Kind::going, i, role->second, no_message, 0});
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
           std::uint32_t message = no_message) {
    if (const auto role = roles_.find(actor); role != roles_.end())
      add(clock, actor, {kind, 0, role->second, message, ticket});
  }

  const trace::JoinedTrace& joined_;
  const trace::Records& records_;
  const std::map<ContextAndActor, Role>& roles_;
  std::vector<Timed> turns_;
};

}  // namespace

std::vector<Turn> order_of(const trace::JoinedTrace& joined,
                           const std::map<ContextAndActor, Role>& roles,
                           const std::vector<Call>& made) {
  Turns turns(joined, roles);
  turns.add_actors();
  turns.add_calls(made);
  return turns.in_order();
}

}  // namespace polychron::replay
