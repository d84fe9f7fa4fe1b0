#include "observe/trace/summary.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <set>

#include "observe/trace/duration.hpp"

namespace polychron::trace {

namespace {

constexpr std::size_t most_lines = 10;

[[gnu::format(printf, 1, 2)]] std::string line(const char* format, ...) {
  std::array<char, 512> text{};
  std::va_list arguments;
  va_start(arguments, format);
  const int written = std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return {text.data(), std::min(text.size() - 1, static_cast<std::size_t>(std::max(0, written)))};
}

std::string head(const JoinedTrace& joined) {
  std::size_t callers = 0;
  for (const auto& actor : joined.actors) callers += actor.band == Band::callers;
  auto text =
      line("%zu contexts, %zu threads that called, %zu actors; %zu events, %zu messages in %s\n",
           joined.contexts.size(), callers, joined.actors.size() - callers, joined.events.size(),
           joined.messages.size(), in_words(joined.length).c_str());
  if (joined.dropped != 0)
    text += line("%llu records had no room and are missing, the oldest\n",
                 static_cast<unsigned long long>(joined.dropped));
  return text;
}

/// Operations and steps by their name and label, those that took the most first.
std::string costs(const JoinedTrace& joined, Event::Kind kind, const char* headline) {
  struct Cost {
    std::size_t count = 0;
    Time total = 0, longest = 0;
  };
  std::map<std::string, Cost> costs;
  Time all = 0;
  for (const auto& event : joined.events) {
    if (event.kind != kind) continue;
    auto name = event.name;
    if (!event.label.empty()) name += " '" + event.label + "'";
    auto& cost = costs[name];
    ++cost.count;
    cost.total += event.duration;
    cost.longest = std::max(cost.longest, event.duration);
    all += event.duration;
  }
  if (costs.empty()) return "";
  std::vector<std::pair<std::string, Cost>> sorted(costs.begin(), costs.end());
  std::ranges::stable_sort(
      sorted, [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  auto text = std::string("\n") + headline + '\n';
  for (std::size_t i = 0; i < std::min(sorted.size(), most_lines); ++i) {
    const auto& [name, cost] = sorted[i];
    text +=
        line("  %5.1f %%  %9s  %7zu x  at most %9s  ",
             100 * static_cast<double>(cost.total) / static_cast<double>(std::max<Time>(all, 1)),
             in_words(cost.total).c_str(), cost.count, in_words(cost.longest).c_str()) +
        name + '\n';
  }
  if (sorted.size() > most_lines) text += line("  and %zu more\n", sorted.size() - most_lines);
  return text;
}

std::string longest_waits(const JoinedTrace& joined) {
  std::vector<const Wait*> waits;
  for (const auto& wait : joined.waits)
    if (wait.event) waits.push_back(&wait);
  std::ranges::stable_sort(
      waits, [](const Wait* a, const Wait* b) { return a->end - a->begin > b->end - b->begin; });
  if (waits.empty()) return "";
  std::string text = "\nThe longest waits\n";
  for (std::size_t i = 0; i < std::min(waits.size(), most_lines); ++i)
    text +=
        line("  %9s  ", in_words(waits[i]->end - waits[i]->begin).c_str()) + waits[i]->text + '\n';
  return text;
}

/// An event, in a line.
std::string link_of(const JoinedTrace& joined, Index event) {
  const auto& e = joined.events[event];
  const auto& actor = joined.actors[e.actor];
  static constexpr std::array doing{"calls ", "handles ", "carries out ",
                                    "runs ",  "becomes ", "hears of "};
  return line("  %9s  ", in_words(e.begin).c_str()) + actor.kind +
         (actor.label.empty() ? "" : " " + actor.label) + " " +
         doing[static_cast<std::size_t>(e.kind)] + title_of(e) +
         (e.duration == 0 ? "" : ", " + in_words(e.duration)) + '\n';
}

/// The origin of an operation: where it was sent to its lane. That is not where it was carried out
/// if it had to wait.
MaybeIndex origin_of(const JoinedTrace& joined, const Operation& operation) {
  return operation.message ? joined.messages[*operation.message].from : std::nullopt;
}

/// From the call to the end of the operation.
Time latency(const JoinedTrace& joined, const Operation& operation) {
  const auto& event = joined.events[operation.event];
  auto first = event.begin;
  auto at = origin_of(joined, operation);
  for (std::size_t depth = 0; depth < 64 && at; ++depth) {
    first = std::min(first, joined.events[*at].begin);
    at = joined.events[*at].cause;
  }
  return event.end() - first;
}

std::string slowest_ticket(const JoinedTrace& joined) {
  const Operation* slowest = nullptr;
  Time longest = -1;
  for (const auto& operation : joined.operations) {
    const auto time = latency(joined, operation);
    if (time <= longest) continue;
    longest = time;
    slowest = &operation;
  }
  if (slowest == nullptr) return "";
  auto text = "\nThe slowest ticket, " + in_words(longest) + " from its call to its end\n";
  if (const auto origin = origin_of(joined, *slowest)) text += chain_of(joined, *origin);
  for (const auto& wait : joined.waits)
    if (!wait.goes_on && wait.event == slowest->event)
      text += line("  %9s  ", in_words(wait.begin).c_str()) + wait.text + ", " +
              in_words(wait.end - wait.begin) + '\n';
  return text + link_of(joined, slowest->event);
}

std::string errors(const JoinedTrace& joined) {
  std::string text;
  std::size_t count = 0;
  for (Index i = 0; i < joined.events.size(); ++i) {
    const auto& event = joined.events[i];
    if (event.kind != Event::Kind::operation || event.error.empty()) continue;
    if (++count > most_lines) continue;
    text += line("  %9s  ", in_words(event.begin).c_str()) + title_of(event) +
            (event.state == Event::State::failed ? " failed: " : " was not run: ");
    for (std::size_t k = 0; k < event.error.size(); ++k) {
      const auto& error = event.error[k];
      text += (k == 0 ? "" : ", because ") + error.kind;
      if (k != 0 && !error.operation.empty()) {
        text += " of " + error.operation;
        if (!error.label.empty()) text += " '" + error.label + "'";
        if (error.ticket != 0) text += " (ticket " + std::to_string(error.ticket) + ")";
      }
      if (!error.message.empty()) text += ": " + error.message;
    }
    text += '\n';
  }
  if (count == 0) return "\nNo operation failed\n";
  if (count > most_lines) text += line("  and %zu more\n", count - most_lines);
  return line("\n%zu operations failed or were not run\n", count) + text;
}

}  // namespace

std::string chain_of(const JoinedTrace& joined, Index event) {
  std::vector<Index> chain{event};
  std::set<Index> known{event};
  while (const auto cause = joined.events[chain.back()].cause) {
    if (!known.insert(*cause).second) break;
    chain.push_back(*cause);
  }
  std::string text;
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) text += link_of(joined, *at);
  return text;
}

std::string summary(const JoinedTrace& joined) {
  auto text = head(joined) + costs(joined, Event::Kind::operation, "What the lanes did") +
              costs(joined, Event::Kind::step, "Steps of plans") + longest_waits(joined) +
              slowest_ticket(joined) + errors(joined);
  if (!joined.lints.empty()) {
    text += "\nWhat looks wrong\n";
    for (const auto& lint : joined.lints) text += "  " + lint.text + '\n';
  }
  return text;
}

}  // namespace polychron::trace
