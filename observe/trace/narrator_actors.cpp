// The contexts and actors of a recording, and what they are called.
#include "observe/trace/narrator.hpp"
#include "polychron/error.hpp"

namespace polychron::trace {

namespace {

Band band_of(const std::string& kind) {
  if (kind == "caller") return Band::callers;
  return kind == "device" ? Band::device : Band::content;
}

}  // namespace

Time Narrator::time_of(std::int64_t at) const {
  constexpr std::uint64_t latest = std::uint64_t{1} << 61;
  if (at < records_.first) return 0;
  const auto since = static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(records_.first);
  return static_cast<Time>(std::min(since, latest));
}

Time Narrator::duration_of(std::uint64_t duration) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 61;
  return static_cast<Time>(std::min(duration, longest));
}

void Narrator::find_contexts() {
  const auto add = [&](std::uint64_t number) {
    if (number == 0 || contexts_.contains(number)) return;
    contexts_[number] = joined_.contexts.size();
    const auto named = records_.contexts.find(number);
    joined_.contexts.push_back({named == records_.contexts.end() ? "" : named->second.label, {}});
  };
  for (const auto& [number, context] : records_.contexts) add(number);
  for (const auto& r : records_.began) add(r.context);
  for (const auto& r : records_.sent) add(r.record.context);
  for (const auto& r : records_.handled) add(r.context);
  for (const auto& r : records_.carried) add(r.context);
  for (const auto& [key, name] : records_.objects)
    if (const auto context = context_of(key.context); context && !key.graph)
      joined_.contexts[*context].tensors[key.id] = describe_object("tensor", name.label, key.id);
}

MaybeIndex Narrator::context_of(std::uint64_t number) const {
  const auto known = contexts_.find(number);
  return known == contexts_.end() ? MaybeIndex{} : known->second;
}

Index Narrator::actor_of(std::uint64_t context, std::uint64_t number, const std::string& kind,
                         Time seen) {
  const auto [place, is_new] = actors_.try_emplace({context, number}, joined_.actors.size());
  if (is_new)
    joined_.actors.push_back({kind, "", context_of(context), band_of(kind), 0, seen, std::nullopt});
  auto& actor = joined_.actors[place->second];
  actor.start = std::min(actor.start, seen);
  if (actor.kind.empty()) {
    actor.kind = kind;
    actor.band = band_of(kind);
  }
  return place->second;
}

Index Narrator::caller_of(std::uint64_t thread, Time seen) {
  const auto [place, is_new] = callers_.try_emplace(thread, joined_.actors.size());
  if (is_new) {
    auto label = "thread " + std::to_string(thread);
    if (const auto named = records_.threads.find(thread); named != records_.threads.end())
      label += " '" + named->second + "'";
    joined_.actors.push_back(
        {"caller", std::move(label), std::nullopt, Band::callers, 0, seen, std::nullopt});
  }
  return place->second;
}

void Narrator::find_actors() {
  for (const auto& r : records_.began)
    actor_of(r.context, r.actor, std::string(r.kind), time_of(r.at));
  for (const auto& [thread, r] : records_.sent) {
    const auto at = time_of(r.at);
    sender_of_sent_.push_back(r.from == 0 ? caller_of(thread, at)
                                          : actor_of(r.context, r.from, "", at));
    receiver_of_sent_.push_back(
        actor_of(r.context, r.to, name_in(records_.receivers, r.about.message + 1), at));
  }
  for (const auto& [thread, r] : records_.caller_waits) caller_of(thread, time_of(r.begin));
  for (const auto& r : records_.handled)
    actor_of_handled_.push_back(actor_of(
        r.context, r.by, name_in(records_.receivers, std::size_t{r.kind} + 1), time_of(r.begin)));
  for (const auto& r : records_.carried) actor_of(r.context, r.lane, "device", time_of(r.begin));
  for (const auto& r : records_.ended)
    if (const auto known = actors_.find({r.context, r.actor}); known != actors_.end())
      joined_.actors[known->second].end = time_of(r.at);
}

void Narrator::label_actors() {
  for (const auto& [key, name] : records_.objects) {
    const auto known = actors_.find({key.context, name.actor});
    if (name.actor == 0 || known == actors_.end()) continue;
    auto& actor = joined_.actors[known->second];
    actor.label = name.label.empty() ? "#" + std::to_string(key.id) : "'" + name.label + "'";
  }
  for (Index i = 0; i < records_.sent.size(); ++i) {
    auto& to = joined_.actors[receiver_of_sent_[i]];
    const auto& sent = records_.sent[i].record;
    // Of lanes, by what they are to carry out: other messages name the lanes that they are about.
    const bool operation = sent.about.message == recording::message_number<msg::carry_out>;
    if (to.kind == "device" && operation) {
      to.lane = sent.footprint.lane;
      to.label = "lane " + std::to_string(to.lane);
    } else if (to.kind == "context" && to.label.empty() && to.context &&
               !joined_.contexts[*to.context].label.empty()) {
      to.label = "'" + joined_.contexts[*to.context].label + "'";
    }
  }
}

}  // namespace polychron::trace
