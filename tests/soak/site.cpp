#include "tests/soak/site.hpp"

#include <chrono>
#include <sstream>
#include <thread>

namespace polychron::soak {

bool comes_true(const std::function<bool()>& true_now) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < end) {
    if (true_now()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true_now();
}

LedgerEntry Site::note_tensor(const Tensor& tensor) const {
  if (tensor.constant() && !rebuilt) return {};  // they are not counted
  return {ledger, 1, 0, static_cast<std::int64_t>(tensor.byte_length()), 0};
}

LedgerEntry Site::note_graph(const Graph& graph) const {
  return {ledger, 0, 1, static_cast<std::int64_t>(graph.memory().constants),
          static_cast<std::int64_t>(graph.memory().arena) * options.lanes};
}

void Site::check_limits(Tally& tally) const {
  if (!rebuilt) return;
  const auto stats = context.stats();
  const auto at_most = [&](const char* what, std::uint64_t number, std::uint64_t limit) {
    if (number > limit)
      tally.complain(std::string(what) + " is " + std::to_string(number) + ", the limit " +
                     std::to_string(limit));
  };
  at_most("in_flight", stats.in_flight, options.max_in_flight);
  at_most("peak_in_flight", stats.peak_in_flight, options.max_in_flight);
  at_most("bytes", stats.bytes, options.memory_limit);
  at_most("peak_bytes", stats.peak_bytes, options.memory_limit);
}

namespace {

/// The first value that is wrong at rest; empty if all are right.
std::string unrest(const ContextStats& stats, const Ledger& ledger) {
  std::ostringstream text;
  const auto tensors = static_cast<std::uint64_t>(ledger.tensors.load());
  const auto graphs = static_cast<std::uint64_t>(ledger.graphs.load());
  const auto bytes = static_cast<std::uint64_t>(ledger.bytes.load());
  const auto arenas = static_cast<std::uint64_t>(ledger.arenas.load());
  if (stats.in_flight != 0) text << "; in_flight: expected 0, got " << stats.in_flight;
  if (stats.tensors != tensors)
    text << "; tensors: expected " << tensors << ", got " << stats.tensors;
  if (stats.graphs != graphs) text << "; graphs: expected " << graphs << ", got " << stats.graphs;
  if (rebuilt && (stats.bytes < bytes || stats.bytes > bytes + arenas))
    text << "; bytes: expected " << bytes << " to " << bytes + arenas << ", got " << stats.bytes;
  if (!stats.running.empty()) text << "; " << stats.running.size() << " lanes run";
  return text.str();
}

}  // namespace

bool Site::comes_to_rest(Tally& tally) {
  if (given_up_ || gone()) return false;
  if (!comes_true([&] { return *open == 0; })) {
    given_up_ = true;
    tally.complain("at rest: " + std::to_string(*open) + " replies do not come");
    return false;
  }
  if (comes_true([&] { return gone() || unrest(context.stats(), *ledger).empty(); })) {
    ++tally.rests;
    return !gone();
  }
  given_up_ = true;  // once is enough
  tally.complain("at rest" + unrest(context.stats(), *ledger));
  return false;
}

void Site::check_end(Tally& tally) const {
  const auto stats = context.stats();
  const auto none = [&](const char* what, std::uint64_t number) {
    if (number != 0)
      tally.complain("after the end: " + std::string(what) + " is " + std::to_string(number));
  };
  if (rebuilt) none("in_flight", stats.in_flight);
  none("bytes", stats.bytes);
  none("tensors", stats.tensors);
  none("graphs", stats.graphs);
  none("replies on their way", static_cast<std::uint64_t>(open->load()));
}

}  // namespace polychron::soak
