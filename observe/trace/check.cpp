#include "observe/trace/check.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "observe/recording/record_numbers.hpp"

namespace polychron::trace {

namespace {

class Checker {
 public:
  explicit Checker(const JoinedTrace& joined) : joined_(joined) {}

  Verdict run() {
    handlings_follow_each_other();
    messages_are_handled_once();
    lanes_keep_their_turns();
    tensors_see_their_tickets_in_order();
    return std::move(verdict_);
  }

 private:
  static constexpr std::size_t most = 100;

  void holds(bool fact, const auto& sentence) {
    ++verdict_.checked;
    if (!fact && verdict_.broken.size() < most) verdict_.broken.push_back(sentence());
  }
  std::string name_of(Index actor) const {
    const auto& a = joined_.actors[actor];
    return "the " + a.kind + (a.label.empty() ? "" : " " + a.label);
  }
  std::string title(Index event) const { return title_of(joined_.events[event]); }

  void handlings_follow_each_other() {
    std::map<Index, Index> before;  // of an actor: its last handling
    for (Index i = 0; i < joined_.events.size(); ++i) {
      const auto& event = joined_.events[i];
      if (event.kind == Event::Kind::call || event.kind == Event::Kind::step) continue;
      if (event.kind == Event::Kind::operation) {
        const bool within = event.cause && joined_.events[*event.cause].begin <= event.begin;
        if (joined_.complete())
          holds(within, [&] { return title(i) + " was carried out when nothing was handled"; });
        continue;
      }
      const auto [last, first] = before.try_emplace(event.actor, i);
      if (first) continue;
      const auto previous = std::exchange(last->second, i);
      holds(joined_.events[previous].end() <= event.begin, [&] {
        return name_of(event.actor) + " handled " + title(i) + " before it was done with " +
               title(previous);
      });
    }
  }

  void messages_are_handled_once() {
    std::map<Index, std::size_t> handled;
    for (const auto& message : joined_.messages) {
      if (message.to) {
        holds(++handled[*message.to] == 1,
              [&] { return title(*message.to) + " was the handling of two messages"; });
        holds(*message.received >= *message.sent,
              [&] { return message.name + " was handled before it was sent"; });
        continue;
      }
      if (!joined_.complete()) continue;
      // An actor that ended did not read its last mail; any other had not come so far.
      const auto& to = joined_.actors[*message.to_actor];
      const auto later = last_sent_of_handled().find(way_of(message));
      const bool overtaken = later != last_sent_of_handled().end() && later->second > *message.sent;
      holds(to.end || !overtaken, [&] {
        return message.name + " to " + name_of(*message.to_actor) +
               " was never handled, though a later one from there was";
      });
    }
  }

  /// Mail of one kind from one actor to another stays in order; urgent mail overtakes other.
  using Way = std::tuple<Index, Index, std::string>;
  static Way way_of(const Message& message) {
    return {message.from_actor.value_or(0), *message.to_actor, message.name};
  }
  /// When the last message that was handled was sent, of each way.
  const std::map<Way, Time>& last_sent_of_handled() {
    if (last_.empty())
      for (const auto& message : joined_.messages)
        if (message.to) {
          auto& last = last_[way_of(message)];
          last = std::max(last, *message.sent);
        }
    return last_;
  }

  void lanes_keep_their_turns() {
    std::map<std::pair<Index, std::uint64_t>, Index> tickets;
    std::map<std::tuple<Index, std::uint32_t, std::uint64_t>, Index> turns;
    for (const auto& operation : joined_.operations) {
      const auto& event = joined_.events[operation.event];
      const auto [ticket, is_new] =
          tickets.try_emplace({operation.context, event.ticket}, operation.event);
      holds(is_new, [&] { return title(operation.event) + " was carried out twice"; });
      const auto [turn, free] =
          turns.try_emplace({operation.context, operation.lane, operation.turn}, operation.event);
      const auto holder = turn->second;
      holds(free, [&] { return title(operation.event) + " had the turn of " + title(holder); });
    }
  }

  void tensors_see_their_tickets_in_order() {
    struct Seen {
      std::uint64_t write = 0, read = 0;  ///< the latest tickets
      MaybeIndex writer, reader, release;
    };
    std::map<std::pair<Index, std::uint64_t>, Seen> tensors;
    for (const auto& operation : joined_.operations) {
      const auto& event = joined_.events[operation.event];
      const auto touch = [&](std::uint64_t id, bool writes) {
        auto& seen = tensors[{operation.context, id}];
        const auto tensor = [&] { return " of tensor #" + std::to_string(id); };
        holds(!seen.release,
              [&] { return title(operation.event) + " came after the release" + tensor(); });
        holds(seen.write < event.ticket || seen.write == 0, [&] {
          return title(operation.event) + " came after " + title(*seen.writer) + tensor();
        });
        if (writes)
          holds(seen.read <= event.ticket, [&] {
            return title(operation.event) + " came after " + title(*seen.reader) + tensor();
          });
        auto& latest = writes ? seen.write : seen.read;
        latest = std::max(latest, event.ticket);
        (writes ? seen.writer : seen.reader) = operation.event;
        if (event.operation == recording::operation_number<msg::op::Release>)
          seen.release = operation.event;
      };
      for (const auto id : operation.reads) touch(id, false);
      for (const auto id : operation.writes) touch(id, true);
    }
  }

  const JoinedTrace& joined_;
  std::map<Way, Time> last_;
  Verdict verdict_;
};

}  // namespace

Verdict check(const JoinedTrace& joined) { return Checker(joined).run(); }

}  // namespace polychron::trace
