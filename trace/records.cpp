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
        } else {
          static_assert(std::is_same_v<R, recording::StepsTaken>);
          to.steps.push_back(r);
        }
      },
      record);
}

template <class List, class TimeOf>
void sort_by_time(List& list, TimeOf time_of, std::int64_t& first) {
  std::ranges::stable_sort(list, {}, time_of);
  if (!list.empty()) first = std::min(first, time_of(list.front()));
}

}  // namespace

Records read_records(std::span<const std::byte> bytes) {
  const auto file = recording::read_file(bytes);
  if (!file)
    bad("this is no recording of Polychron's, or of another version, or its end is missing");
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
  auto& first = records.first = std::numeric_limits<std::int64_t>::max();
  sort_by_time(
      records.began, [](const auto& r) { return r.at; }, first);
  sort_by_time(
      records.ended, [](const auto& r) { return r.at; }, first);
  sort_by_time(
      records.sent, [](const auto& r) { return r.record.at; }, first);
  sort_by_time(
      records.handled, [](const auto& r) { return r.begin; }, first);
  sort_by_time(
      records.carried, [](const auto& r) { return r.begin; }, first);
  sort_by_time(
      records.steps, [](const auto& r) { return r.begin; }, first);
  sort_by_time(
      records.called, [](const auto& r) { return r.at; }, first);
  sort_by_time(
      records.answered, [](const auto& r) { return r.at; }, first);
  sort_by_time(
      records.given_back, [](const auto& r) { return r.at; }, first);
  sort_by_time(
      records.rejected, [](const auto& r) { return r.at; }, first);
  first = std::min(first, records.taken);
  return records;
}

}  // namespace polychron::trace
