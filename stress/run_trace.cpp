#include "stress/run_trace.hpp"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "messages/names.hpp"

namespace polychron::stress {

namespace {

std::string with_label(std::string text, const std::string& label) {
  return label.empty() ? text : text + " '" + label + "'";
}

std::string label_of(const msg::Call& call) {
  return std::visit(
      [](const auto& c) -> std::string {
        if constexpr (requires { c.label; })
          return c.label;
        else
          return "";
      },
      call);
}

std::string describe(const msg::carry_out& m) {
  return with_label(msg::name_of(m.operation), msg::label_of(m.operation)) + ", " +
         msg::describe(m.stamp);
}

}  // namespace

std::string describe(const msg::MessageView& message) {
  return std::visit(
      [](const auto* m) {
        using Message = std::remove_cvref_t<decltype(*m)>;
        if constexpr (std::is_same_v<Message, msg::carry_out>)
          return "carry_out " + describe(*m);
        else if constexpr (std::is_same_v<Message, msg::submit>)
          return with_label(std::string("submit ") + msg::name_of(m->call), label_of(m->call));
        else
          return msg::name_of_message<Message>();
      },
      message);
}

void RunTrace::started(msg::ActorId actor, const char* kind) noexcept {
  actors_[actor] = std::string(kind) + " #" + std::to_string(actor);
  marks_.push_back({actor, "begins", ++now_});
}

void RunTrace::ended(msg::ActorId actor) noexcept { marks_.push_back({actor, "ends", ++now_}); }

void RunTrace::sent(msg::ActorId from, msg::ActorId to, const msg::MessageView& message) noexcept {
  const auto name = describe(message);
  const auto at = ++now_;
  // An arrow begins in a slice: of an actor's handler, or of the call.
  if (!in_hand_.contains(from)) slices_.push_back({from, name, at, ++now_, std::nullopt});
  on_the_way_[{to, message.index()}].push_back(arrows_.size());
  arrows_.push_back({from, to, name, at, 0});
}

void RunTrace::received(msg::ActorId by, const msg::MessageView& message) noexcept {
  Slice slice{by, describe(message), ++now_, 0, std::nullopt};
  auto& waiting = on_the_way_[{by, message.index()}];
  if (!waiting.empty()) {
    slice.arrow = waiting.front();
    arrows_[waiting.front()].received = now_;
    waiting.pop_front();
  }
  in_hand_[by] = slices_.size();
  slices_.push_back(std::move(slice));
}

void RunTrace::finished(msg::ActorId by, const msg::MessageView&) noexcept {
  const auto slice = in_hand_.extract(by);
  if (!slice.empty()) slices_[slice.mapped()].end = ++now_;
}

void RunTrace::has_turn(msg::ActorId lane, const msg::carry_out& operation) noexcept {
  marks_.push_back({lane, describe(operation), ++now_});
}

std::string RunTrace::chrome_json(const std::string& title) const {
  auto events = nlohmann::json::array();
  const auto event = [&](const char* phase, msg::ActorId actor, const std::string& name, Time at) {
    events.push_back(
        {{"ph", phase}, {"pid", 1}, {"tid", actor}, {"name", name}, {"ts", at}, {"cat", "actor"}});
    return &events.back();
  };
  for (const auto& [actor, name] : actors_)
    events.push_back({{"ph", "M"},
                      {"pid", 1},
                      {"tid", actor},
                      {"name", "thread_name"},
                      {"args", {{"name", name}}}});
  for (const auto& slice : slices_) {
    auto& made = *event("X", slice.actor, slice.name, slice.begin);
    // A handler that never came to its end.
    made["dur"] = (slice.end == 0 ? now_ + 1 : slice.end) - slice.begin;
  }
  for (std::size_t i = 0; i < arrows_.size(); ++i) {
    const auto& arrow = arrows_[i];
    if (arrow.received == 0) {
      event("i", arrow.from, arrow.name + ", which nobody handles", arrow.sent);
      continue;
    }
    (*event("s", arrow.from, arrow.name, arrow.sent))["id"] = i;
    auto& end = *event("f", arrow.to, arrow.name, arrow.received);
    end["id"] = i;
    end["bp"] = "e";
  }
  for (const auto& mark : marks_) (*event("i", mark.actor, mark.name, mark.at))["s"] = "t";
  return nlohmann::json{{"traceEvents", events}, {"otherData", {{"title", title}}}}.dump();
}

}  // namespace polychron::stress
