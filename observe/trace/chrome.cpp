#include "observe/trace/chrome.hpp"

#include <nlohmann/json.hpp>

namespace polychron::trace {

namespace {

using Json = nlohmann::json;

/// Labels come from callers and models: bytes that are not UTF-8 must not stop the rest.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Writer {
 public:
  explicit Writer(const JoinedTrace& joined) : joined_(joined) {}

  std::string write(const std::string& title) {
    name_tracks();
    for (Index i = 0; i < joined_.events.size(); ++i) slice(i);
    for (Index i = 0; i < joined_.messages.size(); ++i) flow(i);
    for (const auto& counter : joined_.counters)
      for (const auto& [at, value] : counter.values) {
        auto& event = add("C", micro(at), Pid{counter.context + 2}, 0, counter.name);
        event["args"] = {{counter.unit.empty() ? "count" : counter.unit, value}};
      }
    return dump({{"traceEvents", std::move(events_)},
                 {"displayTimeUnit", "ns"},
                 {"otherData", {{"title", title}, {"dropped", joined_.dropped}}}});
  }

 private:
  using Pid = std::size_t;
  static double micro(Time time) { return static_cast<double>(time) / 1000; }
  Pid process_of(Index actor) const {
    const auto& context = joined_.actors[actor].context;
    return context ? *context + 2 : 1;
  }
  Json& add(const char* phase, double at, Pid process, Index thread, const std::string& name) {
    events_.push_back(
        {{"ph", phase}, {"ts", at}, {"pid", process}, {"tid", thread}, {"name", name}});
    return events_.back();
  }
  void name(const char* what, Pid process, Index thread, const std::string& name) {
    auto& event = add("M", 0, process, thread, what);
    event["args"] = {{"name", name}};
  }
  void name_tracks() {
    name("process_name", 1, 0, "callers");
    for (Index i = 0; i < joined_.contexts.size(); ++i) {
      const auto& label = joined_.contexts[i].label;
      name("process_name", i + 2, 0,
           label.empty() ? "context " + std::to_string(i + 1) : "context '" + label + "'");
    }
    for (Index i = 0; i < joined_.actors.size(); ++i) {
      const auto& actor = joined_.actors[i];
      name("thread_name", process_of(i), i + 1,
           actor.label.empty() ? actor.kind : actor.kind + " " + actor.label);
    }
  }
  void slice(Index index) {
    static constexpr const char* categories[] = {"call", "message", "operation",
                                                 "step", "outcome", "failure"};
    const auto& e = joined_.events[index];
    auto& event = add("X", micro(e.begin), process_of(e.actor), e.actor + 1, e.name);
    event["dur"] = micro(e.duration);
    event["cat"] = categories[static_cast<std::size_t>(e.kind)];
    auto& args = event["args"] = {{"event", index}};
    if (e.ticket != 0) args["ticket"] = e.ticket;
    if (!e.label.empty()) args["label"] = e.label;
    if (!e.object.empty()) args["object"] = e.object;
    if (!e.detail.empty()) args["detail"] = e.detail;
    if (e.cause) args["cause"] = *e.cause;
    if (e.state != Event::State::done)
      args["state"] = e.state == Event::State::failed ? "failed" : "not run";
    if (e.threw) args["state"] = "threw";
    for (std::size_t i = 0; i < e.error.size(); ++i)
      args["error"].push_back(e.error[i].kind + ": " + e.error[i].message);
    if (!e.error.empty()) event["cname"] = "terrible";
  }
  void flow(Index index) {
    const auto& m = joined_.messages[index];
    if (!m.from || !m.to || !m.sent || !m.received) return;
    const auto& from = joined_.events[*m.from];
    const auto& to = joined_.events[*m.to];
    auto& begin = add("s", micro(*m.sent), process_of(from.actor), from.actor + 1, m.name);
    begin["id"] = index;
    begin["cat"] = "message";
    auto& end = add("f", micro(*m.received), process_of(to.actor), to.actor + 1, m.name);
    end["id"] = index;
    end["cat"] = "message";
    end["bp"] = "e";
  }

  const JoinedTrace& joined_;
  Json events_ = Json::array();
};

}  // namespace

std::string chrome_json(const JoinedTrace& joined, const std::string& title) {
  return Writer(joined).write(title);
}

}  // namespace polychron::trace
