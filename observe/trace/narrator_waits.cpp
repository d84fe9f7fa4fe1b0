// The states, waits and counters that follow from the events of a recording.
#include "observe/trace/errors.hpp"
#include "observe/trace/lints.hpp"
#include "observe/trace/narrator.hpp"

namespace polychron::trace {

std::string title_of(const Event& event) {
  std::string title = event.name;
  if (!event.label.empty()) title += " '" + event.label + "'";
  if (!event.object.empty()) title += " of " + event.object;
  if (event.ticket != 0) title += " (ticket " + std::to_string(event.ticket) + ")";
  return title;
}

void Narrator::find_states() {
  const auto tell = [&](std::uint64_t context, std::uint64_t ticket, std::int64_t at,
                        std::string_view error) {
    if (error.empty() || ticket == 0) return;
    const auto operation = carried_operations_.find({context, ticket});
    if (operation == carried_operations_.end()) return;
    auto& event = joined_.events[operation->second];
    if (time_of(at) < event.begin) return;  // a refusal's outputs
    if (!event.error.empty()) return;
    event.error = errors_in(error);
    event.state = event.error.front().ran ? Event::State::failed : Event::State::not_run;
    // The failure upstream, through which its input was errored.
    for (std::size_t i = 1; i < event.error.size(); ++i) {
      const auto upstream = carried_operations_.find({context, event.error[i].ticket});
      if (event.error[i].ticket == 0 || event.error[i].ticket == ticket) continue;
      if (upstream == carried_operations_.end() || upstream->second == operation->second) continue;
      if (joined_.events[upstream->second].begin > event.begin) continue;
      event.cause = upstream->second;
      break;
    }
  };
  // A lane tells the context that an operation failed, a tensor with which error it was tagged, and
  // a caller why there are no bytes.
  for (const auto& [thread, r] : records_.sent)
    tell(r.context, r.about.ticket, r.at, r.about.error);
  for (const auto& r : records_.answered) tell(r.context, r.ticket, r.at, r.error);
}

void Narrator::find_ends() {
  // By lane and turn: when the lane heard that a lease is over, or the device at its end.
  std::map<std::pair<Index, std::uint64_t>, Time> ends;
  for (Index i = 0; i < records_.sent.size(); ++i) {
    const auto& sent = records_.sent[i].record;
    const auto handled = handled_of_sent_[i];
    if (!handled || (sent.about.message != recording::message_number<msg::end_lease> &&
                     sent.about.message != recording::message_number<msg::executed>))
      continue;
    const auto& hearing = joined_.events[*event_of_handled_[*handled]];
    ends.try_emplace({hearing.actor, sent.footprint.turn}, hearing.begin);
  }
  for (const auto& operation : joined_.operations) {
    const auto& event = joined_.events[operation.event];
    const bool lends = event.operation == recording::operation_number<msg::op::Lend>;
    if (lends && event.state != Event::State::done) continue;
    const auto end = ends.find({event.actor, operation.turn});
    const bool ended = end != ends.end() && end->second >= event.end();
    if (!lends && !ended) continue;
    for (const auto* tensors : {&operation.reads, &operation.writes})
      for (const auto tensor : *tensors)
        going_on_[{operation.context, tensor}].push_back(operation.event);
    if (!ended) continue;
    ends_[operation.event] = end->second;
    const auto ticket = " (ticket " + std::to_string(event.ticket) + ")";
    joined_.waits.push_back(
        {event.actor, event.end(), end->second, operation.event, std::nullopt,
         lends ? event.object + " is on lease" + ticket : "the device is at " + title_of(event),
         true});
  }
}

Time Narrator::over(Index event) const {
  const auto end = ends_.find(event);
  return end == ends_.end() ? joined_.events[event].end() : end->second;
}

void Narrator::list_operations() {
  std::map<Index, Index> latest;  // of each lane
  for (Index i = 0; i < event_of_carried_.size(); ++i) {
    const auto& r = records_.carried[i];
    const auto event = event_of_carried_[i];
    const auto [last, is_first] = latest.try_emplace(joined_.events[event].actor, event);
    if (!is_first) ahead_[event] = std::exchange(last->second, event);
    const auto sent = joined_.issued.find({r.context, r.ticket});
    const auto context = context_of(r.context);
    if (sent == joined_.issued.end() || !context) continue;
    const auto& at = records_.sent[sent->second].record.footprint;
    turns_[{r.context, at.lane, at.turn}] = event;
    joined_.operations.push_back(
        {event, *context, at.lane, at.turn, at.reads, at.writes, sent->second});
  }
}

MaybeIndex Narrator::waited_for(const Operation& operation) const {
  const auto& event = joined_.events[operation.event];
  const auto& sent = records_.sent[*operation.message].record;
  MaybeIndex last;
  Time latest = time_of(sent.at);
  const auto consider = [&](Index other) {
    const auto end = over(other);
    if (end <= latest || end > event.begin || other == operation.event) return;
    latest = end;
    last = other;
  };
  if (const auto ahead = ahead_.find(operation.event); ahead != ahead_.end())
    consider(ahead->second);
  for (const auto* tensors : {&operation.reads, &operation.writes})
    for (const auto tensor : *tensors) {
      const auto longer = going_on_.find({operation.context, tensor});
      if (longer == going_on_.end()) continue;
      for (const auto other : longer->second)
        if (joined_.events[other].ticket < event.ticket) consider(other);
    }
  const auto& waits = sent.footprint.waits;
  for (std::size_t k = 0; k + 1 < waits.size(); k += 2)
    if (const auto other = turns_.find({sent.context, waits[k], waits[k + 1]});
        other != turns_.end())
      consider(other->second);
  return last;
}

std::string Narrator::reason_of_wait(MaybeIndex on) const {
  if (!on) return "its lane's thread";
  const auto& event = joined_.events[*on];
  if (!ends_.contains(*on)) return title_of(event);
  const bool lends = event.operation == recording::operation_number<msg::op::Lend>;
  return (lends ? "the end of a lease: " : "the device: ") + title_of(event);
}

void Narrator::find_waits() {
  list_operations();
  find_ends();
  for (const auto& operation : joined_.operations) {
    const auto& event = joined_.events[operation.event];
    const auto arrived = time_of(records_.sent[*operation.message].record.at);
    if (arrived >= event.begin) continue;
    const auto on = waited_for(operation);
    joined_.waits.push_back({event.actor, arrived, event.begin, operation.event, on,
                             title_of(event) + " waits for " + reason_of_wait(on)});
  }
}

void Narrator::add_caller_waits() {
  for (const auto& [thread, r] : records_.caller_waits) {
    const auto begin = std::max<Time>(0, time_of(r.begin));  // it may be before the recording
    const auto context = context_of(r.context);
    const auto label = context ? joined_.contexts[*context].label : "";
    const bool is_for_reply = r.why == static_cast<std::uint32_t>(msg::CallerWait::reply);
    joined_.waits.push_back({caller_of(thread, begin), begin,
                             time_of(r.begin) + duration_of(r.duration), std::nullopt, std::nullopt,
                             std::string("the caller waits for ") +
                                 (is_for_reply ? "a reply" : "a permit") + " of context" +
                                 (label.empty() ? "" : " '" + label + "'")});
  }
}

void Narrator::count() {
  struct Change {
    Time at;
    std::int64_t by;
  };
  std::map<Index, std::vector<Change>> waiting, bytes;
  for (const auto& [key, sent] : joined_.issued)
    if (const auto context = context_of(key.first))
      waiting[*context].push_back({time_of(records_.sent[sent].record.at), 1});
  for (Index i = 0; i < records_.carried.size(); ++i) {
    const auto& r = records_.carried[i];
    const auto context = context_of(r.context);
    const auto sent = joined_.issued.find({r.context, r.ticket});
    if (!context || sent == joined_.issued.end()) continue;
    const auto end = joined_.events[event_of_carried_[i]].end();
    waiting[*context].push_back({end, -1});
    constexpr auto allocate = recording::operation_number<msg::op::Allocate>;
    const bool released = r.operation == recording::operation_number<msg::op::Release>;
    const auto& writes = records_.sent[sent->second].record.footprint.writes;
    if (writes.size() != 1 || (r.operation != allocate && !released)) continue;
    const auto object = records_.objects.find({r.context, false, writes.front()});
    if (object == records_.objects.end()) continue;
    const auto size = static_cast<std::int64_t>(
        std::min<std::uint64_t>(object->second.bytes, std::uint64_t{1} << 48));
    bytes[*context].push_back({end, released ? -size : size});
  }
  const auto add = [&](const char* name, const char* unit, auto& all) {
    for (auto& [context, changes] : all) {
      std::ranges::stable_sort(changes, {}, &Change::at);
      Counter counter{name, unit, context, {}};
      std::int64_t value = 0;
      for (const auto& change : changes) {
        value += change.by;
        if (!counter.values.empty() && counter.values.back().first == change.at)
          counter.values.back().second = value;
        else
          counter.values.emplace_back(change.at, value);
      }
      joined_.counters.push_back(std::move(counter));
    }
  };
  add("operations that wait or run", "", waiting);
  add("bytes of tensors", "bytes", bytes);
}

JoinedTrace Narrator::narrate() {
  joined_.dropped = records_.dropped;
  joined_.gaps = std::ranges::any_of(records_.contexts,
                                     [](const auto& context) { return context.second.left_out; });
  joined_.length = time_of(records_.taken);
  find_contexts();
  find_actors();
  label_actors();
  match_messages();
  add_calls();
  add_handlings();
  add_operations();
  add_steps();
  order_events();
  find_causes();
  find_states();
  find_waits();
  add_caller_waits();
  count();
  for (const auto& event : joined_.events) joined_.length = std::max(joined_.length, event.end());
  joined_.lints = lints_of(joined_);
  return std::move(joined_);
}

JoinedTrace join(std::span<const std::byte> file) { return Narrator(read_records(file)).narrate(); }

}  // namespace polychron::trace
