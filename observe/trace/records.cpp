#include "observe/trace/records.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>

#include "observe/recording/codec.hpp"
#include "observe/recording/names.hpp"
#include "observe/recording/record_numbers.hpp"
#include "polychron/error.hpp"

namespace polychron::trace {

namespace {

[[noreturn]] void bad(const std::string& why) {
  throw Error(ErrorKind::bad_data, why).with_operation("trace");
}

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1))
    result.emplace_back(text.substr(0, end));
  return result;
}

/// A file's numbers of kinds, as this library's.
class Numbers {
 public:
  /// `theirs`: the file's table. `names`: this library's, to which the others are added.
  Numbers(const std::vector<std::string>& theirs, std::vector<std::string>& names,
          std::vector<std::string>& unknown) {
    for (const auto& name : theirs) {
      const auto known = std::ranges::find(names, name);
      ours_.push_back(static_cast<std::uint32_t>(known - names.begin()));
      if (known != names.end()) continue;
      names.push_back(name);
      unknown.push_back(name);
    }
  }
  std::uint32_t operator()(std::uint32_t theirs) const {
    return theirs < ours_.size() ? ours_[theirs] : none;
  }
  std::uint32_t counted_from_one(std::uint32_t theirs) const {
    return theirs == 0 ? 0 : (*this)(theirs - 1) + 1;
  }

 private:
  static constexpr std::uint32_t none = 1U << 30U;  ///< of a damaged file
  std::vector<std::uint32_t> ours_;
};

/// Of all kinds.
struct Tables {
  Numbers messages, calls, operations, outcomes;

  void renumber(recording::Sent& r) const {
    auto& about = r.about;
    about.message = messages(about.message);
    if (about.message == recording::message_number<msg::submit>)
      about.what = calls.counted_from_one(about.what);
    else if (about.message == recording::message_number<msg::carry_out>)
      about.what = operations.counted_from_one(about.what);
    else
      about.what = outcomes.counted_from_one(about.what);
  }
  void renumber(recording::HandlingBegan& r) const { r.kind = messages(r.kind); }
  void renumber(recording::Carried& r) const {
    r.operation = operations.counted_from_one(r.operation);
  }
  void renumber(auto&) const {}
};

/// Sorts the records of all blocks by their kinds.
class Gatherer {
 public:
  explicit Gatherer(Records& to) : to_(to) {}

  void add(std::uint64_t thread, const recording::Record& record) {
    thread_ = thread;
    std::visit([this](const auto& r) { add(r); }, record);
  }
  /// After the last one.
  void end() {
    for (const auto& [actor, index] : going_on_) {
      auto& handled = to_.handled[index];
      handled.goes_on = true;
      if (handled.begin < to_.taken)
        handled.duration =
            static_cast<std::uint64_t>(to_.taken) - static_cast<std::uint64_t>(handled.begin);
    }
  }

 private:
  void add(const recording::ContextNamed& r) {
    to_.contexts[r.context].label = r.label;
    to_.contexts[r.context].lanes = r.lanes;
  }
  void add(const recording::ContextMade& r) { to_.contexts[r.context].made = true; }
  void add(const recording::LeftOut& r) { to_.contexts[r.context].left_out = true; }
  void add(const recording::ObjectNamed& r) {
    auto& name = to_.objects[{r.context, r.graph, r.id}];
    name.label = r.label;
    name.bytes = r.bytes;
    if (r.actor != 0) name.actor = r.actor;
  }
  void add(const recording::PlanNamed& r) { to_.plans[{r.context, r.graph}] = lines(r.lines); }
  void add(const recording::ThreadNamed& r) { to_.threads[thread_] = r.name; }
  void add(const recording::HandlingBegan& r) {
    going_on_[{thread_, r.context, r.by}] = to_.handled.size();
    to_.handled.push_back({.context = r.context,
                           .by = r.by,
                           .begin = r.at,
                           .begin_clock = r.clock,
                           .clock = r.clock,
                           .end_clock = r.clock,
                           .sent = r.sent,
                           .message = r.message,
                           .kind = r.kind});
  }
  /// That of a handling whose begin was dropped tells nothing.
  void add(const recording::HandlingEnded& r) {
    const auto begun = going_on_.extract({thread_, r.context, r.by});
    if (begun.empty()) return;
    auto& handled = to_.handled[begun.mapped()];
    handled.duration = r.duration;
    handled.clock = r.clock;
    handled.end_clock = r.end_clock;
    handled.threw = r.threw;
  }
  void add(const recording::ActorBegan& r) { to_.began.push_back(r); }
  void add(const recording::ActorEnded& r) { to_.ended.push_back(r); }
  void add(const recording::Sent& r) { to_.sent.push_back({thread_, r}); }
  void add(const recording::Carried& r) { to_.carried.push_back(r); }
  void add(const recording::StepsTaken& r) { to_.steps.push_back(r); }
  void add(const recording::Called& r) { to_.called.push_back(r); }
  void add(const recording::Answered& r) { to_.answered.push_back(r); }
  void add(const recording::GivenBack& r) { to_.given_back.push_back(r); }
  void add(const recording::Rejected& r) { to_.rejected.push_back(r); }
  void add(const recording::Lost& r) { to_.lost.push_back(r); }
  void add(const recording::Unheard& r) { to_.unheard.push_back(r); }
  void add(const recording::CallerWaited& r) { to_.caller_waits.push_back({thread_, r}); }

  Records& to_;
  std::uint64_t thread_ = 0;  ///< that wrote the block
  /// By thread, context and actor: the place of a handling whose end is to come. It may come in
  /// another block of that thread, after those of others.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::size_t> going_on_;
};

constexpr auto time_of = [](const auto& r) {
  if constexpr (requires { r.record; })
    return r.record.at;
  else if constexpr (requires { r.begin; })
    return r.begin;
  else
    return r.at;
};

/// Each by its times; gives the first of all.
std::int64_t sort_by_time(auto&... lists) {
  auto first = std::numeric_limits<std::int64_t>::max();
  const auto sort = [&](auto& list) {
    std::ranges::stable_sort(list, {}, time_of);
    if (!list.empty()) first = std::min(first, time_of(list.front()));
  };
  (sort(lists), ...);
  return first;
}

}  // namespace

Records read_records(std::span<const std::byte> bytes) {
  const auto version = recording::version_of(bytes);
  if (!version) bad("this is no recording of Polychron's");
  if (*version != recording::version)
    bad("this recording has version " + std::to_string(*version) +
        " of the format, and this library reads version " + std::to_string(recording::version) +
        ": record it again, or use the library that wrote it");
  const auto file = recording::read_file(bytes);
  if (!file) bad("the recording is damaged, or its end is missing");
  Records records;
  const auto& ours = recording::names();
  records.messages = ours.messages, records.receivers = ours.receivers;
  records.calls = ours.calls, records.operations = ours.operations;
  records.outcomes = ours.outcomes;
  const auto table = [&](std::string_view theirs, std::vector<std::string>& names) {
    return Numbers(lines(theirs), names, records.unknown);
  };
  const Tables tables{table(file->head.messages, records.messages),
                      table(file->head.calls, records.calls),
                      table(file->head.operations, records.operations),
                      table(file->head.outcomes, records.outcomes)};
  records.operators = lines(file->head.operators);
  records.dropped = file->head.dropped;
  records.taken = file->head.taken;
  Gatherer gatherer(records);
  for (const auto& block : file->blocks) {
    recording::Decoder decoder(std::as_bytes(std::span(block.bytes)));
    while (!decoder.at_end()) {
      auto record = decoder.record();
      if (!record) bad("the recording is damaged");
      std::visit([&](auto& r) { tables.renumber(r); }, *record);
      gatherer.add(block.thread, *record);
    }
  }
  gatherer.end();
  const auto first =
      sort_by_time(records.began, records.ended, records.sent, records.handled, records.carried,
                   records.steps, records.called, records.answered, records.given_back,
                   records.rejected, records.lost, records.unheard);
  records.first = std::min(first, records.taken);
  return records;
}

}  // namespace polychron::trace
