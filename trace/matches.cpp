#include "trace/matches.hpp"

#include <map>
#include <tuple>

namespace polychron::trace {

std::vector<std::optional<std::size_t>> sent_of_handled(const Records& records) {
  // What lay at an address was handled before anything else came to lie there.
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::size_t> on_the_way;
  const auto& sent = records.sent;
  const auto& handled = records.handled;
  std::vector<std::optional<std::size_t>> result(handled.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < handled.size(); ++i) {
    for (; next < sent.size() && sent[next].record.at <= handled[i].begin; ++next) {
      const auto& r = sent[next].record;
      on_the_way[{r.context, r.to, r.message}] = next;
    }
    const auto there = on_the_way.find({handled[i].context, handled[i].by, handled[i].message});
    if (there == on_the_way.end()) continue;
    const auto match = there->second;
    on_the_way.erase(there);
    if (sent[match].record.about.message == handled[i].kind) result[i] = match;
  }
  return result;
}

}  // namespace polychron::trace
