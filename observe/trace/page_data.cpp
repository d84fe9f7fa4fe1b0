// Columns of numbers and a table of texts: a page of 200,000 events must load at once.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "observe/trace/check.hpp"
#include "observe/trace/page.hpp"

namespace polychron::trace {

namespace {

using Json = nlohmann::json;
using Column = std::vector<std::int64_t>;

class Texts {
 public:
  Texts() { (*this)(""); }
  std::int64_t operator()(const std::string& text) {
    const auto [place, is_new] = known_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return static_cast<std::int64_t>(place->second);
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<std::string> all_;
};

std::int64_t or_none(const MaybeIndex& index) {
  return index ? static_cast<std::int64_t>(*index) : -1;
}

std::string text_of(const ErrorChain& chain) {
  std::string text;
  for (const auto& error : chain) {
    if (!text.empty()) text += '\n';
    text += error.kind;
    if (!error.operation.empty()) text += " in " + error.operation;
    if (!error.label.empty()) text += " '" + error.label + "'";
    if (!error.object.empty()) text += " of " + error.object;
    if (error.ticket != 0) text += " (ticket " + std::to_string(error.ticket) + ")";
    text += error.ran ? ": " : ", not run: ";
    text += error.message;
  }
  return text;
}

/// The page quotes what callers called something, and tells a lane by its number.
std::string label_on_page(const Actor& actor) {
  if (actor.band == Band::device) return "";
  const auto& label = actor.label;
  const bool quoted = label.size() >= 2 && label.front() == '\'' && label.back() == '\'';
  return quoted ? label.substr(1, label.size() - 2) : label;
}

Json actors_of(const JoinedTrace& joined, Texts& text) {
  static constexpr const char* bands[] = {"callers", "content", "device"};
  auto all = Json::array();
  for (const auto& actor : joined.actors)
    all.push_back({{"kind", text(actor.kind)},
                   {"label", text(label_on_page(actor))},
                   {"context", or_none(actor.context)},
                   {"band", bands[static_cast<std::size_t>(actor.band)]},
                   {"lane", actor.lane},
                   {"start", actor.start},
                   {"end", actor.end ? *actor.end : -1}});
  return all;
}

Json events_of(const JoinedTrace& joined, Texts& text) {
  const auto column = [&](auto of) {
    Column values;
    values.reserve(joined.events.size());
    for (const auto& event : joined.events) values.push_back(static_cast<std::int64_t>(of(event)));
    return values;
  };
  Time last = 0;
  return {{"kind", column([](const Event& e) { return e.kind; })},
          {"actor", column([](const Event& e) { return e.actor; })},
          {"begin", column([&](const Event& e) { return e.begin - std::exchange(last, e.begin); })},
          {"duration", column([](const Event& e) { return e.duration; })},
          {"name", column([&](const Event& e) { return text(e.name); })},
          {"label", column([&](const Event& e) { return text(e.label); })},
          {"object", column([&](const Event& e) { return text(e.object); })},
          {"ticket", column([](const Event& e) { return e.ticket; })},
          {"detail",
           column([&](const Event& e) { return text(e.threw ? "the handler threw" : e.detail); })},
          {"error", column([&](const Event& e) { return text(text_of(e.error)); })},
          {"state", column([](const Event& e) { return e.state; })},
          {"cause", column([](const Event& e) { return or_none(e.cause); })}};
}

Json messages_of(const JoinedTrace& joined, Texts& text) {
  const auto column = [&](auto of) {
    Column values;
    for (const auto& message : joined.messages)
      values.push_back(static_cast<std::int64_t>(of(message)));
    return values;
  };
  return {{"from", column([](const Message& m) { return or_none(m.from); })},
          {"to", column([](const Message& m) { return or_none(m.to); })},
          {"from_actor", column([](const Message& m) { return or_none(m.from_actor); })},
          {"to_actor", column([](const Message& m) { return or_none(m.to_actor); })},
          {"sent", column([](const Message& m) { return m.sent.value_or(-1); })},
          {"received", column([](const Message& m) { return m.received.value_or(-1); })},
          {"name", column([&](const Message& m) { return text(m.name); })},
          {"ticket", column([](const Message& m) { return m.ticket; })}};
}

Json waits_of(const JoinedTrace& joined, Texts& text) {
  Column actor, begin, end, ticket, texts, event, on;
  for (const auto& wait : joined.waits) {
    actor.push_back(static_cast<std::int64_t>(wait.actor));
    begin.push_back(wait.begin);
    end.push_back(wait.end);
    ticket.push_back(static_cast<std::int64_t>(wait.event ? joined.events[*wait.event].ticket : 0));
    texts.push_back(text(wait.text));
    event.push_back(or_none(wait.event));
    on.push_back(or_none(wait.on));
  }
  return {{"actor", actor}, {"begin", begin}, {"end", end}, {"ticket", ticket},
          {"text", texts},  {"event", event}, {"on", on}};
}

/// The calls and handlings, one after the other, by their begin. In a driven world that is its
/// schedule. Calls and handlings that ran at the same time elsewhere are in it as well.
Json schedule_of(const JoinedTrace& joined, Texts& text) {
  Column steps;
  for (Index i = 0; i < joined.events.size(); ++i) {
    const auto kind = joined.events[i].kind;
    if (kind != Event::Kind::operation && kind != Event::Kind::step)
      steps.push_back(static_cast<std::int64_t>(i));
  }
  constexpr std::size_t told = 3;
  const auto broken = check(joined).broken;
  std::string verdict;
  for (std::size_t i = 0; i < std::min(told, broken.size()); ++i)
    verdict += (i == 0 ? "" : "\n") + broken[i];
  if (broken.size() > told)
    verdict += "\nand " + std::to_string(broken.size() - told) + " more: polychron trace check";
  return {{"events", steps}, {"verdict", text(verdict)}};
}

Json data_of(const Titled& shown) {
  const auto& joined = shown.joined;
  Texts text;
  Json data = {{"format", "polychron-trace-page"},
               {"version", 1},
               {"title", shown.title},
               {"clock", "ns"},
               {"dropped", joined.dropped},
               {"schedule", schedule_of(joined, text)},
               {"other", nullptr}};
  auto& contexts = data["contexts"] = Json::array();
  for (const auto& context : joined.contexts) contexts.push_back({{"label", text(context.label)}});
  data["actors"] = actors_of(joined, text);
  data["events"] = events_of(joined, text);
  data["messages"] = messages_of(joined, text);
  data["waits"] = waits_of(joined, text);
  auto& counters = data["counters"] = Json::array();
  for (const auto& counter : joined.counters) {
    Column time, value;
    for (const auto& [at, reached] : counter.values) {
      time.push_back(at);
      value.push_back(reached);
    }
    counters.push_back({{"name", text(counter.name)},
                        {"unit", counter.unit},
                        {"context", counter.context},
                        {"time", time},
                        {"value", value}});
  }
  auto& lints = data["lints"] = Json::array();
  for (const auto& lint : joined.lints)
    lints.push_back({{"text", text(lint.text)}, {"event", or_none(lint.event)}});
  data["strings"] = text.all();
  return data;
}

}  // namespace

std::string page_data(const Titled& shown, const Titled* other) {
  auto data = data_of(shown);
  if (other != nullptr) data["other"] = data_of(*other);
  return data.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace polychron::trace
