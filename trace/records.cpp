#include "trace/records.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "polychron/error.hpp"
#include "recording/codec.hpp"

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

void add(Records& to, std::uint64_t thread, const recording::Record& record) {
  std::visit(
      [&](const auto& r) {
        using R = std::remove_cvref_t<decltype(r)>;
        if constexpr (std::is_same_v<R, recording::ContextNamed>) {
          to.contexts[r.context] = {std::string(r.label), r.lanes};
        } else if constexpr (std::is_same_v<R, recording::ObjectNamed>) {
          auto& name = to.objects[{r.context, r.graph, r.id}];
          name.label = r.label;
          name.bytes = r.bytes;
          if (r.actor != 0) name.actor = r.actor;
        } else if constexpr (std::is_same_v<R, recording::PlanNamed>) {
          to.plans[{r.context, r.graph}] = lines(r.lines);
        } else if constexpr (std::is_same_v<R, recording::ActorBegan>) {
          to.began.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::ActorEnded>) {
          to.ended.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::Sent>) {
          to.sent.push_back({thread, r});
        } else if constexpr (std::is_same_v<R, recording::Handled>) {
          to.handled.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::Carried>) {
          to.carried.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::Called>) {
          to.called.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::Answered>) {
          to.answered.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::GivenBack>) {
          to.given_back.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::Rejected>) {
          to.rejected.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::Lost>) {
          to.lost.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::Unheard>) {
          to.unheard.push_back(r);
        } else if constexpr (std::is_same_v<R, recording::ThreadNamed>) {
          to.threads[thread] = r.name;
        } else if constexpr (std::is_same_v<R, recording::LeftOut>) {
          to.gaps = true;
        } else {
          static_assert(std::is_same_v<R, recording::StepsTaken>);
          to.steps.push_back(r);
        }
      },
      record);
}

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
  records.messages = lines(file->head.messages);
  records.receivers = lines(file->head.receivers);
  records.calls = lines(file->head.calls);
  records.operations = lines(file->head.operations);
  records.outcomes = lines(file->head.outcomes);
  records.operators = lines(file->head.operators);
  records.dropped = file->head.dropped;
  records.taken = file->head.taken;
  for (const auto& piece : file->pieces) {
    recording::Decoder decoder(std::as_bytes(std::span(piece.bytes)));
    while (!decoder.at_end()) {
      const auto record = decoder.record();
      if (!record) bad("the recording is damaged");
      add(records, piece.thread, *record);
    }
  }
  const auto first =
      sort_by_time(records.began, records.ended, records.sent, records.handled, records.carried,
                   records.steps, records.called, records.answered, records.given_back,
                   records.rejected, records.lost, records.unheard);
  records.first = std::min(first, records.taken);
  return records;
}

}  // namespace polychron::trace
