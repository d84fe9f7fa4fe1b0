#include "observe/replay/whole_part.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "observe/recording/record_numbers.hpp"
#include "observe/trace/matches.hpp"

namespace polychron::replay {

namespace {

using recording::LogicalTime;

template <class Message>
bool is(const recording::Sent& sent) {
  return sent.about.message == recording::message_number<Message>;
}

class Cut {
 public:
  explicit Cut(trace::JoinedTrace& joined) : joined_(joined), records_(joined.records) {
    for (const auto& [number, context] : records_.contexts)
      if (context.made && !context.left_out)
        ends_[number] = std::numeric_limits<LogicalTime>::max();
    for (const auto& r : records_.handled)
      if (const auto end = ends_.find(r.context); end != ends_.end() && r.goes_on)
        end->second = std::min(end->second, r.begin_clock);
  }

  void make(WholePart& part) {
    part.left_out = std::erase_if(records_.contexts,
                                  [&](const auto& entry) { return !ends_.contains(entry.first); });
    cut(records_.began), cut(records_.ended), cut(records_.handled), cut(records_.carried);
    cut(records_.called), cut(records_.rejected), cut(records_.lost);
    std::erase_if(records_.sent, [&](const auto& sent) { return !has(sent.record); });
    joined_.sent_of_handled = trace::sent_of_handled(records_);
    joined_.issued.clear();
    for (std::size_t i = 0; i < records_.sent.size(); ++i)
      if (const auto& r = records_.sent[i].record; is<msg::carry_out>(r))
        joined_.issued.try_emplace({r.context, r.about.ticket}, i);
    keep_issued(records_.answered), keep_issued(records_.given_back);
    keep_issued(records_.unheard);
    find_carried(part);
    find_over(part);
  }

 private:
  template <class R>
  bool has(const R& r) const {
    const auto end = ends_.find(r.context);
    if (end == ends_.end()) return false;
    if constexpr (requires { r.clock; }) return r.clock < end->second;
    return true;
  }
  template <class R>
  void cut(std::vector<R>& list) {
    std::erase_if(list, [this](const R& r) { return !has(r); });
  }
  /// These have no logical time: those of an operation go with it.
  template <class R>
  void keep_issued(std::vector<R>& list) {
    std::erase_if(list, [this](const R& r) {
      return !joined_.issued.contains({r.context, r.ticket});
    });
  }
  bool whole(const trace::Handled& r) const { return r.end_clock < ends_.at(r.context); }

  void find_carried(WholePart& part) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<LogicalTime, bool>> handlings;
    for (const auto& r : records_.handled) handlings[{r.context, r.by}][r.clock] = whole(r);
    for (const auto& r : records_.carried) {
      const auto& lane = handlings[{r.context, r.lane}];
      const auto after = lane.upper_bound(r.clock);
      if (after != lane.begin() && std::prev(after)->second)
        part.carried.emplace(r.context, r.ticket);
    }
  }

  /// An operation is over when its lane is done with it, and has let everybody know.
  void find_over(WholePart& part) const {
    std::set<std::pair<std::uint64_t, std::uint64_t>> ended;
    for (const auto& r : records_.ended) ended.emplace(r.context, r.actor);
    std::set<std::size_t> heard;  // messages
    std::set<WholePart::Operation> finished;
    std::set<std::tuple<std::uint64_t, std::uint64_t, msg::Ticket>> returned;
    for (std::size_t i = 0; i < records_.handled.size(); ++i) {
      const auto match = joined_.sent_of_handled[i];
      if (!match || !whole(records_.handled[i])) continue;
      heard.insert(*match);
      const auto& r = records_.sent[*match].record;
      if (is<msg::executed>(r)) finished.emplace(r.context, r.about.ticket);
      if (is<msg::end_lease>(r)) returned.emplace(r.context, r.to, r.footprint.turn);
    }
    std::set<WholePart::Operation> answered;
    for (const auto& r : records_.answered) answered.emplace(r.context, r.ticket);
    part.over = part.carried;
    for (const auto& r : records_.carried) {
      const WholePart::Operation operation{r.context, r.ticket};
      const auto sent = joined_.issued.find(operation);
      const bool goes_on =
          (r.submitted && !finished.contains(operation)) ||
          (r.operation == recording::operation_number<msg::op::Read> &&
           !answered.contains(operation)) ||
          (r.operation == recording::operation_number<msg::op::Lend> &&
           sent != joined_.issued.end() &&
           !returned.contains(
               {r.context, r.lane, records_.sent[sent->second].record.footprint.turn}));
      if (goes_on) part.over.erase(operation);
    }
    for (std::size_t i = 0; i < records_.sent.size(); ++i)
      if (const auto& r = records_.sent[i].record;
          !heard.contains(i) && !ended.contains({r.context, r.to}))
        part.over.erase({r.context, r.about.ticket});
  }

  trace::JoinedTrace& joined_;
  trace::Records& records_;
  std::map<std::uint64_t, LogicalTime> ends_;  ///< of the contexts that the part has
};

}  // namespace

WholePart whole_part(trace::JoinedTrace recorded) {
  WholePart part;
  part.joined = std::move(recorded);
  Cut(part.joined).make(part);
  return part;
}

}  // namespace polychron::replay
