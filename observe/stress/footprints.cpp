#include "observe/stress/footprints.hpp"

#include <algorithm>

namespace polychron::stress {

bool dependent(const Footprint& a, const Footprint& b) {
  if (a.name == b.name) return true;
  const auto everything = [](const Footprint& f) {
    return std::ranges::any_of(f.touches,
                               [](const Touch& t) { return t.part == Part::everything; });
  };
  if (everything(a) || everything(b)) return true;
  return std::ranges::any_of(a.touches, [&](const Touch& x) {
    return std::ranges::any_of(b.touches, [&](const Touch& y) {
      return x.part == y.part && x.id == y.id && (x.writes || y.writes);
    });
  });
}

void Footprints::restart(msg::ActorId first_id) {
  first_id_ = first_id;
  recording_ = false;
  last_ = {};
  steps_ = 0;
  mail_.clear();
  owners_.clear();
  waits_.clear();
  lanes_.clear();
}

void Footprints::begin(Name name) {
  if (!recording_) return;
  last_ = {name, {}, std::nullopt};
  ++steps_;
  // Every step of an actor changes the actor's object.
  touch(Part::object, name);
}

void Footprints::touch(Part part, std::uint64_t id, bool writes) {
  if (!recording_) return;
  const Touch touch{part, id, writes};
  if (std::ranges::find(last_.touches, touch) == last_.touches.end())
    last_.touches.push_back(touch);
}

void Footprints::sent(Name to) {
  touch(Part::mail, to);
  mail_[to].push_back(recording_ && steps_ > 0 ? std::optional(steps_ - 1) : std::nullopt);
}

void Footprints::received(Name by) {
  auto& mail = mail_[by];
  if (mail.empty()) return;
  if (recording_ && mail.front()) last_.cause = mail.front();
  mail.pop_front();
}

void Footprints::sent(msg::ActorId receiver, const msg::MessageView& message) {
  const auto to = receiver - first_id_;
  sent(to);
  if (const auto* const m = std::get_if<const msg::carry_out*>(&message)) {
    learn((*m)->operation);
    lanes_[to] = (*m)->stamp.at.lane;
    // The stamp lists the work that it has to wait for.
    for (const auto& wait : (*m)->stamp.waits) waits_[to].insert(wait.at.lane);
    for (const auto& [lane, number] : lanes_) touch(Part::progress, number, false);
  }
  if (std::holds_alternative<const msg::actor_failed*>(message)) touch(Part::everything, 0);
}

void Footprints::received(msg::ActorId receiver, const msg::MessageView& message) {
  const auto by = receiver - first_id_;
  received(by);
  if (const auto* const m = std::get_if<const msg::submit*>(&message))
    if (std::holds_alternative<msg::DestroyContext>((*m)->call)) touch(Part::everything, 0);
  if (std::holds_alternative<const msg::actor_failed*>(message)) touch(Part::everything, 0);
  if (std::holds_alternative<const msg::survey_lane*>(message)) {
    touch(Part::survey, 0);
    touch(Part::mail, by);  // it also tells the messages that wait there
  }
  if (lends_ && (std::holds_alternative<const msg::destroy_tensor*>(message) ||
                 std::holds_alternative<const msg::tensor_answered*>(message)))
    touch(Part::leases, 0);
  if (std::holds_alternative<const msg::compile*>(message) && faults_) touch(Part::faults, 0);
  for (const auto lane : waits_[by]) touch(Part::progress, lane, false);
}

void Footprints::carries_out(msg::ActorId by, const msg::Operation& operation) {
  touch(Part::progress, lanes_[by - first_id_]);
  if (faults_) touch(Part::faults, 0);
  msg::footprint_of(operation, [&](msg::Object object, bool changes) {
    const auto owner = owners_.find(object);
    if (owner != owners_.end()) touch(Part::object, owner->second, changes || faults_);
  });
}

void Footprints::learn(const msg::Operation& operation) {
  const auto owns = [&](const auto& slot) {
    if (slot->actor) owners_[slot.get()] = slot->actor->id() - first_id_;
  };
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.tensor; }) owns(o.tensor);
        if constexpr (requires { o.graph; }) owns(o.graph);
        if constexpr (requires { o.inputs; }) std::ranges::for_each(o.inputs, owns);
        if constexpr (requires { o.outputs; }) std::ranges::for_each(o.outputs, owns);
      },
      operation);
}

}  // namespace polychron::stress
