// The events of a recording, in order, each with what led to it.
#include <charconv>
#include <numeric>

#include "observe/trace/errors.hpp"
#include "observe/trace/matches.hpp"
#include "observe/trace/narrator.hpp"
#include "polychron/error.hpp"

namespace polychron::trace {

namespace {

template <class Part>
void split(std::string_view text, char at, Part part) {
  for (;;) {
    const auto end = text.find(at);
    part(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

template <class Message>
bool is(const recording::About& about) {
  return about.message == recording::message_number<Message>;
}

}  // namespace

ErrorChain errors_in(std::string_view lines) {
  ErrorChain chain;
  if (lines.empty()) return chain;
  split(lines, '\n', [&](std::string_view line) {
    std::vector<std::string> fields;
    split(line, '\t', [&](std::string_view field) { fields.emplace_back(field); });
    fields.resize(7);
    ErrorLine error{0, fields[1], fields[2], fields[3], fields[4], fields[6], fields[5] == "ran"};
    std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), error.ticket);
    chain.push_back(std::move(error));
  });
  return chain;
}

const std::string& Narrator::message_name(const recording::About& about) const {
  if (is<msg::submit>(about)) return name_in(records_.calls, about.what);
  if (is<msg::carry_out>(about)) return name_in(records_.operations, about.what);
  return name_in(records_.messages, std::size_t{about.message} + 1);
}

std::string Narrator::object_of(std::uint64_t context,
                                const recording::Footprint& footprint) const {
  const bool graph = footprint.graph != 0;
  const auto& tensors = footprint.writes.empty() ? footprint.reads : footprint.writes;
  if (!graph && tensors.size() != 1) return "";
  const auto id = graph ? footprint.graph : tensors.front();
  const auto named = records_.objects.find({context, graph, id});
  return describe_object(graph ? "graph" : "tensor",
                         named == records_.objects.end() ? "" : named->second.label, id);
}

void Narrator::match_messages() {
  joined_.sent_of_handled = sent_of_handled(records_);
  handled_of_sent_.resize(records_.sent.size());
  for (Index i = 0; i < joined_.sent_of_handled.size(); ++i)
    if (const auto match = joined_.sent_of_handled[i]) handled_of_sent_[*match] = i;
}

void Narrator::add_calls() {
  call_of_sent_.resize(records_.sent.size());
  for (Index i = 0; i < records_.sent.size(); ++i) {
    const auto& r = records_.sent[i].record;
    if (is<msg::carry_out>(r.about)) joined_.issued.try_emplace({r.context, r.about.ticket}, i);
    if (r.from != 0) continue;
    Event event;
    event.kind = Event::Kind::call;
    event.actor = sender_of_sent_[i];
    event.begin = time_of(r.at);
    event.name = message_name(r.about);
    event.label = r.about.label;
    event.object = object_of(r.context, r.footprint);
    event.error = errors_in(r.about.error);
    call_of_sent_[i] = joined_.events.size();
    joined_.events.push_back(std::move(event));
  }
}

void Narrator::add_handlings() {
  event_of_handled_.resize(records_.handled.size());
  for (Index i = 0; i < records_.handled.size(); ++i) {
    const auto& r = records_.handled[i];
    Event event;
    event.actor = actor_of_handled_[i];
    event.begin = time_of(r.begin);
    event.duration = duration_of(r.duration);
    event.threw = r.threw;
    if (r.goes_on) event.detail = "it goes on";
    event.name = name_in(records_.messages, std::size_t{r.kind} + 1);
    if (const auto source = joined_.sent_of_handled[i]) {
      const auto& sent = records_.sent[*source].record;
      const auto& about = sent.about;
      if (is<msg::operation_failed>(about)) event.kind = Event::Kind::failure;
      if (is<msg::tensor_became>(about) || is<msg::graph_became>(about)) {
        event.kind = Event::Kind::outcome;
        event.name = name_in(records_.outcomes, about.what);
      } else {
        event.name = message_name(about);
      }
      event.label = about.label;
      event.ticket = about.ticket;
      event.error = errors_in(about.error);
      event.object = object_of(sent.context, sent.footprint);
    }
    event_of_handled_[i] = joined_.events.size();
    joined_.events.push_back(std::move(event));
  }
}

void Narrator::add_operations() {
  for (const auto& r : records_.carried) {
    Event event;
    event.kind = Event::Kind::operation;
    event.actor = actors_.at({r.context, r.lane});
    event.begin = time_of(r.begin);
    event.duration = duration_of(r.duration);
    event.name = name_in(records_.operations, r.operation);
    event.operation = r.operation;
    event.ticket = r.ticket;
    if (const auto sent = joined_.issued.find({r.context, r.ticket});
        sent != joined_.issued.end()) {
      const auto& source = records_.sent[sent->second].record;
      event.label = source.about.label;
      event.object = object_of(r.context, source.footprint);
    }
    event_of_carried_.push_back(joined_.events.size());
    joined_.events.push_back(std::move(event));
  }
}

void Narrator::add_steps() {
  for (const auto& r : records_.steps) {
    const auto lane = actors_.find({r.context, r.lane});
    if (lane == actors_.end()) continue;
    const auto plan = records_.plans.find({r.context, r.graph});
    auto begin = time_of(r.begin);
    for (Index i = 0; i < r.nanoseconds.size(); ++i) {
      Event event;
      event.kind = Event::Kind::step;
      event.actor = lane->second;
      event.begin = begin;
      event.duration = duration_of(r.nanoseconds[i]);
      event.name = "step " + std::to_string(i);
      event.ticket = r.ticket;
      if (plan != records_.plans.end() && i < plan->second.size()) {
        // "onednn: [label] conv2d ..."
        event.detail = plan->second[i];
        auto name = std::string_view(event.detail);
        name.remove_prefix(std::min(name.size(), name.find(": ") + 2));
        if (name.starts_with('[')) {
          const auto end = std::min(name.size(), name.find("] "));
          event.label = name.substr(1, end - 1);
          name.remove_prefix(std::min(name.size(), end + 2));
        }
        event.name = name.substr(0, name.find_first_of(" ("));
      }
      begin = std::min(event.end(), Time{1} << 61);
      joined_.events.push_back(std::move(event));
    }
  }
}

void Narrator::order_events() {
  auto& events = joined_.events;
  std::vector<Index> order(events.size()), place(events.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) {
    const auto& x = events[a];
    const auto& y = events[b];
    if (x.begin != y.begin) return x.begin < y.begin;
    if (x.actor == y.actor && x.kind != y.kind && x.kind != Event::Kind::call)
      return x.duration > y.duration;
    return false;
  });
  std::vector<Event> sorted;
  sorted.reserve(events.size());
  for (Index i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(events[order[i]]));
  }
  events = std::move(sorted);
  const auto moved = [&](MaybeIndex& index) {
    if (index) index = place[*index];
  };
  std::ranges::for_each(event_of_handled_, moved);
  std::ranges::for_each(call_of_sent_, moved);
  for (auto& index : event_of_carried_) index = place[index];
  tracks_.resize(joined_.actors.size());
  for (Index i = 0; i < events.size(); ++i)
    if (events[i].kind != Event::Kind::call && events[i].kind != Event::Kind::step)
      tracks_[events[i].actor].push_back({events[i].begin, events[i].end(), i});
  for (Index i = 0; i < event_of_carried_.size(); ++i)
    carried_operations_[{records_.carried[i].context, records_.carried[i].ticket}] =
        event_of_carried_[i];
}

MaybeIndex Narrator::event_at(Index actor, Time at) const {
  const auto& track = tracks_[actor];
  auto after = std::ranges::upper_bound(track, at, {}, &Span::begin);
  // Handlings of an actor follow each other, and operations lie in one: few are looked at.
  for (int looked_at = 0; after != track.begin() && looked_at < 64; ++looked_at)
    if ((--after)->end >= at) return after->event;
  return std::nullopt;
}

void Narrator::find_causes() {
  auto& joined = joined_;
  std::vector<MaybeIndex> origin(records_.sent.size());
  for (Index i = 0; i < records_.sent.size(); ++i) {
    const auto& r = records_.sent[i].record;
    const auto at = time_of(r.at);
    origin[i] = call_of_sent_[i] ? call_of_sent_[i] : event_at(sender_of_sent_[i], at);
    Message message;
    message.from = origin[i];
    message.from_actor = sender_of_sent_[i];
    message.to_actor = receiver_of_sent_[i];
    message.sent = at;
    message.name = message_name(r.about);
    message.ticket = r.about.ticket;
    if (const auto handled = handled_of_sent_[i]) {
      message.to = event_of_handled_[*handled];
      message.received = time_of(records_.handled[*handled].begin);
      joined.events[*message.to].message = joined.messages.size();
      joined.events[*message.to].cause = origin[i];
    }
    joined.messages.push_back(std::move(message));
  }
  for (Index i = 0; i < event_of_carried_.size(); ++i) {
    auto& operation = joined.events[event_of_carried_[i]];
    // The handling in which it was carried out.
    const auto& track = tracks_[operation.actor];
    auto around = std::ranges::upper_bound(track, operation.begin, {}, &Span::begin);
    for (int looked_at = 0; around != track.begin() && looked_at < 64; ++looked_at) {
      --around;
      if (around->event == event_of_carried_[i] || around->end < operation.end() ||
          joined.events[around->event].kind == Event::Kind::operation)
        continue;
      operation.cause = around->event;
      break;
    }
  }
  for (auto& event : joined.events)
    if (event.kind == Event::Kind::step) event.cause = event_at(event.actor, event.begin);
}

}  // namespace polychron::trace
