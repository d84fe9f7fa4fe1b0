#include "observe/trace/lints.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "observe/recording/record_numbers.hpp"
#include "observe/trace/duration.hpp"

namespace polychron::trace {

namespace {

template <class O>
bool is(const Event& event) {
  return event.operation == recording::operation_number<O>;
}

/// The worst of some events, and how many there are.
struct Worst {
  std::size_t count = 0;
  Time time = 0;
  MaybeIndex event;

  void add(Time of, Index at) {
    ++count;
    if (event && of <= time) return;
    time = of;
    event = at;
  }
};

std::string times(std::size_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

/// "tensor 'a', tensor 'b' and 3 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

void add_growing_queues(const JoinedTrace& joined, std::vector<Lint>& lints) {
  constexpr std::size_t parts = 8;
  constexpr std::int64_t many = 64;
  for (const auto& counter : joined.counters) {
    if (!counter.unit.empty() || counter.values.size() < 2 * parts) continue;
    // The least of each part of the time grows, from part to part: it never recovers.
    const auto begin = counter.values.front().first, end = counter.values.back().first;
    std::vector<std::int64_t> least;
    std::size_t at = 0;
    std::int64_t value = counter.values.front().second;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto until =
          begin + (end - begin) / static_cast<Time>(parts) * static_cast<Time>(part + 1);
      std::int64_t lowest = value;
      for (; at < counter.values.size() && counter.values[at].first <= until; ++at) {
        value = counter.values[at].second;
        lowest = std::min(lowest, value);
      }
      least.push_back(lowest);
    }
    const auto half = least.begin() + parts / 2;
    if (!std::is_sorted(half, least.end()) || least.back() < many || least.back() < 2 * *half)
      continue;
    lints.push_back({"the queue of context '" + joined.contexts[counter.context].label +
                         "' only grows: " + std::to_string(least.back()) + " operations at the end",
                     std::nullopt});
  }
}

void add_hogs(const JoinedTrace& joined, std::vector<Lint>& lints) {
  constexpr Time long_turn = 1'000'000;
  std::map<std::string, Worst> hogs;
  for (Index i = 0; i < joined.events.size(); ++i) {
    const auto& event = joined.events[i];
    const auto& kind = joined.actors[event.actor].kind;
    const bool on_worker = kind == "context" || kind == "tensor" || kind == "graph";
    if (event.kind != Event::Kind::call && on_worker && event.duration >= long_turn)
      hogs[kind].add(event.duration, i);
  }
  for (const auto& [kind, worst] : hogs)
    lints.push_back({"a " + kind + " actor kept a worker " + times(worst.count) +
                         " for more than " + in_words(long_turn) + ": at most " +
                         in_words(worst.time) + ", in " + title_of(joined.events[*worst.event]),
                     worst.event});
}

void add_long_waits(const JoinedTrace& joined, std::vector<Lint>& lints) {
  constexpr Time worth_telling = 1'000'000;
  std::map<std::string, Worst> waits;
  for (const auto& wait : joined.waits) {
    if (wait.goes_on || !wait.event) continue;
    const auto& event = joined.events[*wait.event];
    const auto waited = wait.end - wait.begin;
    if (waited >= worth_telling && waited > event.duration && !is<msg::op::Release>(event))
      waits[event.name].add(waited, *wait.event);
  }
  for (const auto& [name, worst] : waits)
    lints.push_back({name + " waited longer than it took, and more than " +
                         in_words(worth_telling) + ", " + times(worst.count) + ": at most " +
                         in_words(worst.time) + ", " + title_of(joined.events[*worst.event]),
                     worst.event});
}

void add_errored_reads(const JoinedTrace& joined, std::vector<Lint>& lints) {
  Worst reads;
  for (Index i = 0; i < joined.events.size(); ++i) {
    const auto& event = joined.events[i];
    if (is<msg::op::Read>(event) && event.error.size() > 1) reads.add(event.duration, i);
  }
  if (reads.count != 0)
    lints.push_back({"an errored tensor was read " + times(reads.count) + ": first by " +
                         title_of(joined.events[*reads.event]),
                     reads.event});
}

void add_tensors(const JoinedTrace& joined, std::vector<Lint>& lints) {
  if (!joined.complete()) return;  // who read it may be among what is missing
  struct Tensor {
    MaybeIndex written;
    bool read = false, created = false, released = false;
  };
  std::map<std::pair<Index, std::uint64_t>, Tensor> tensors;
  for (const auto& operation : joined.operations) {
    const auto& event = joined.events[operation.event];
    for (const auto id : operation.reads) tensors[{operation.context, id}].read = true;
    for (const auto id : operation.writes) {
      auto& tensor = tensors[{operation.context, id}];
      tensor.created |= is<msg::op::Allocate>(event);
      tensor.released |= is<msg::op::Release>(event);
      tensor.read |= is<msg::op::Lend>(event);
      if (is<msg::op::Write>(event) || is<msg::op::Dispatch>(event))
        tensor.written = operation.event;
    }
  }
  std::vector<std::string> unread, alive;
  MaybeIndex first;
  for (const auto& [key, tensor] : tensors) {
    const auto& names = joined.contexts[key.first].tensors;
    const auto name = names.find(key.second);
    const auto text = name == names.end() ? "tensor #" + std::to_string(key.second) : name->second;
    if (tensor.written && !tensor.read) {
      unread.push_back(text);
      if (!first) first = tensor.written;
    }
    if (tensor.created && !tensor.released) alive.push_back(text);
  }
  if (!unread.empty()) lints.push_back({"written, and never read: " + some_of(unread), first});
  if (!alive.empty()) lints.push_back({"alive at the end: " + some_of(alive), std::nullopt});
}

}  // namespace

std::vector<Lint> lints_of(const JoinedTrace& joined) {
  std::vector<Lint> lints;
  if (joined.dropped != 0)
    lints.push_back(
        {std::to_string(joined.dropped) + " records had no room: what is oldest is missing",
         std::nullopt});
  if (joined.gaps)
    lints.push_back({"a context was left out at times (set_traced): what it did then is missing",
                     std::nullopt});
  add_growing_queues(joined, lints);
  add_tensors(joined, lints);
  add_hogs(joined, lints);
  add_long_waits(joined, lints);
  add_errored_reads(joined, lints);
  return lints;
}

}  // namespace polychron::trace
