#include "trace/matches.hpp"

#include <map>
#include <tuple>

namespace polychron::trace {

std::vector<std::optional<std::size_t>> sent_of_handled(const Records& records) {
  using Message = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, recording::LogicalTime>;
  std::map<Message, std::size_t> sent;  // context, receiver, address, logical time
  for (std::size_t i = 0; i < records.sent.size(); ++i) {
    const auto& r = records.sent[i].record;
    sent[{r.context, r.to, r.message, r.clock}] = i;
  }
  std::vector<std::optional<std::size_t>> result(records.handled.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto& r = records.handled[i];
    const auto match = sent.find({r.context, r.by, r.message, r.sent});
    if (match == sent.end()) continue;
    if (records.sent[match->second].record.about.message == r.kind) result[i] = match->second;
    sent.erase(match);
  }
  return result;
}

}  // namespace polychron::trace
