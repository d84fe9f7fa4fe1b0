#include "observe/trace/matches.hpp"

#include <map>
#include <tuple>

namespace polychron::trace {

std::vector<std::optional<std::size_t>> sent_of_handled(const Records& records) {
  using Message = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, recording::LogicalTime>;
  // By context, receiver, address, logical time. Two threads may send at one logical time, the
  // second after the first's message has gone: then the first that was sent was handled first.
  std::multimap<Message, std::size_t> sent;
  for (std::size_t i = 0; i < records.sent.size(); ++i) {
    const auto& r = records.sent[i].record;
    sent.emplace(Message{r.context, r.to, r.message, r.clock}, i);
  }
  std::vector<std::optional<std::size_t>> result(records.handled.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto& r = records.handled[i];
    const Message message{r.context, r.by, r.message, r.sent};
    const auto match = sent.lower_bound(message);
    if (match == sent.end() || match->first != message) continue;
    if (records.sent[match->second].record.about.message == r.kind) result[i] = match->second;
    sent.erase(match);
  }
  return result;
}

}  // namespace polychron::trace
