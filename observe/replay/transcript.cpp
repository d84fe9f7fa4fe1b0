#include "observe/replay/transcript.hpp"

#include <algorithm>

#include "observe/recording/record_numbers.hpp"
#include "observe/trace/errors.hpp"

namespace polychron::replay {

namespace {

using trace::name_in;

std::string list(const char* title, const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return "";
  std::string text = title;
  for (const auto number : numbers) text += " " + std::to_string(number);
  return text;
}

/// How much room there was is another matter in each run.
bool tells_of_room(const trace::ErrorLine& line) {
  return line.kind == "out_of_memory" && line.operation == "build";
}

std::string text_of(std::string_view lines) {
  std::string text;
  for (const auto& line : trace::errors_in(lines)) {
    if (!text.empty()) text += "; because of ";
    text += line.kind + " in " + line.operation;
    if (!line.label.empty()) text += " '" + line.label + "'";
    if (!line.object.empty()) text += " of " + line.object;
    if (line.ticket != 0) text += " (ticket " + std::to_string(line.ticket) + ")";
    if (!line.ran) text += ", not run";
    if (!tells_of_room(line)) text += ": " + line.message;
  }
  return text;
}

}  // namespace

Transcript transcript_of(const trace::Records& records) {
  std::map<std::uint64_t, std::size_t> places;
  for (const auto& [number, context] : records.contexts) places.emplace(number, places.size());
  Transcript transcript(places.size());
  const auto entry = [&](std::uint64_t context, std::uint64_t ticket) -> TranscriptEntry* {
    const auto place = places.find(context);
    return place == places.end() || ticket == 0 ? nullptr : &transcript[place->second][ticket];
  };
  for (const auto& [thread, r] : records.sent) {
    const auto number = r.about.message;
    if (number == recording::message_number<msg::expect_of_tensor> ||
        number == recording::message_number<msg::expect_of_graph>)
      continue;
    auto* const at = entry(r.context, r.about.ticket);
    if (at == nullptr) continue;
    const auto& message = name_in(records.messages, std::size_t{r.about.message} + 1);
    if (number == recording::message_number<msg::carry_out>) {
      at->what = name_in(records.operations, r.about.what);
      if (!r.about.label.empty()) at->what += " '" + std::string(r.about.label) + "'";
      if (r.footprint.graph != 0) at->what += " of graph " + std::to_string(r.footprint.graph);
      at->what += list(", reads", r.footprint.reads) + list(", writes", r.footprint.writes);
      if (!r.about.error.empty()) at->what += ": " + text_of(r.about.error);
    } else if (const auto& outcome = name_in(records.outcomes, r.about.what);
               !outcome.empty() || !r.about.error.empty()) {
      at->told.insert(message + (outcome.empty() ? "" : " " + outcome) +
                      (r.about.error.empty() ? "" : ": " + text_of(r.about.error)));
    }
  }
  // An error counts as told even if the context's actor had ended: when it ends depends on handles.
  for (const auto& r : records.unheard)
    if (auto* const at = entry(r.context, r.ticket))
      at->told.insert("operation_failed: " + text_of(r.error));
  for (const auto& r : records.carried)
    if (auto* const at = entry(r.context, r.ticket)) at->carried_out = at->over = true;
  for (const auto& r : records.rejected)
    if (auto* const at = entry(r.context, r.ticket)) at->rejected = true;
  for (const auto& r : records.answered)
    if (auto* const at = entry(r.context, r.ticket)) {
      at->answer = r.error.empty() ? "bytes" : text_of(r.error);
      at->digest = r.digest;
    }
  return transcript;
}

Transcript transcript_of(const WholePart& part) {
  auto transcript = transcript_of(part.joined.records);
  auto context = part.joined.records.contexts.begin();
  for (auto& entries : transcript) {
    const auto number = context++->first;
    for (auto& [ticket, entry] : entries) {
      entry.carried_out &= part.carried.contains({number, ticket});
      entry.over &= part.over.contains({number, ticket});
    }
  }
  return transcript;
}

std::vector<std::string> differences(const Transcript& recorded, const Transcript& replayed) {
  std::vector<std::string> sentences;
  for (std::size_t c = 0; c < recorded.size(); ++c) {
    static const std::map<std::uint64_t, TranscriptEntry> nothing;
    const auto& other = c < replayed.size() ? replayed[c] : nothing;
    for (const auto& [ticket, was] : recorded[c]) {
      const auto say = [&, t = ticket](const std::string& what, const std::string& then,
                                       const std::string& now) {
        std::string where = "ticket " + std::to_string(t);
        if (recorded.size() > 1) where += " of context " + std::to_string(c + 1);
        sentences.push_back(where + ", " + what + ": recorded " + then + "; replayed " + now);
      };
      const auto found = other.find(ticket);
      const auto quoted = [](const std::string& text) { return text.empty() ? "nothing" : text; };
      if (found == other.end() || found->second.what != was.what) {
        say("the operation", quoted(was.what),
            found == other.end() ? "nothing" : quoted(found->second.what));
        continue;
      }
      const auto& is = found->second;
      const bool by_a_lane = !was.answer.empty() || !is.answer.empty();
      if (!by_a_lane && was.rejected && !is.rejected)
        say(was.what, "rejected by a destroy", "not rejected");
      if (!by_a_lane && was.over && !was.rejected && is.rejected)
        say(was.what, "not rejected", "rejected by a destroy");
      if (!was.carried_out) continue;
      if (!is.carried_out) {
        say(was.what, "carried out", "not");
        continue;
      }
      for (const auto& told : was.told)
        if (!is.told.contains(told)) say(was.what, told, "not so");
      for (const auto& told : is.told)
        if (was.over && !was.told.contains(told)) say(was.what, "not so", told);
      if (was.answer != is.answer)
        say(was.what, quoted(was.answer), quoted(is.answer));
      else if (was.digest != 0 && is.digest != 0 && was.digest != is.digest)
        say(was.what, "other bytes", "these");
    }
  }
  return sentences;
}

}  // namespace polychron::replay
