#include "stress/evidence.hpp"

#include <algorithm>
#include <array>

namespace polychron::stress {

namespace {

/// More than the calls of `program` take of the context's bytes, however they meet.
std::uint64_t demand(const Program& program) {
  constexpr std::uint64_t value = 8, plan = 16;
  // Each lane has an arena of each of the two graphs.
  auto bytes = 2 * plan * static_cast<std::uint64_t>(program.lanes);
  for (const auto& client : program.clients)
    for (const auto& call : client) {
      // What a revoked lease keeps is allocated again.
      if (call.kind == Kind::create || call.kind == Kind::constant || call.kind == Kind::write ||
          call.kind == Kind::lend)
        bytes += value;
      if (call.kind == Kind::build) bytes += plan;
    }
  return bytes;
}

bool refused(const Made& made) { return made.thrown || (made.answer && made.answer->error); }

}  // namespace

Evidence::Evidence(const Program& program, const History& history) {
  foresee(program, history);
  listen(history);
}

void Evidence::foresee(const Program& program, const History& history) {
  for (std::size_t i = 0; i < history.calls.size(); ++i) {
    const auto& made = history.calls[i];
    if (made.call.foreign && (made.submitted || !refused(made)) && !wrong)
      wrong = label_of(made.client, made.index) + " (" + to_string(made.call) + ") was taken";
    if (made.call.foreign) continue;
    if (made.call.kind == Kind::destroy_tensor) destroyed_at.try_emplace(made.call.tensor, i);
    if (made.call.kind == Kind::destroy_graph) graphs_.insert(made.call.graph);
    if (made.call.kind == Kind::destroy_context && !ended_at) ended_at = i;
    if (made.call.kind == Kind::cancel) cancelled_.insert(made.call.cancellation);
    if (made.lent && made.submitted) returned.emplace(*made.lent, i);
  }
  for (const auto& client : program.clients)
    for (const auto& call : client) {
      if (call.kind == Kind::constant) constants_.insert(call.tensor);
      lends_ |= call.kind == Kind::lend;
    }
  few_places_ = program.few_places();
  blocks_ = program.blocks;
  // How much the plans of real kernels take is theirs to say.
  scarce_ = program.few_bytes() &&
            (program.backend == Computes::real || demand(program) > program.spare_bytes);
  for (const auto& fault : program.faults) {
    points_.insert(fault.point);
    inherent_ |= fault.inherent;
    // Which of them loses the context is up to the schedule, and so is what it meets.
    if (fault.kind == ErrorKind::context_lost) may_be_lost_ = true;
  }
}

// Every operation that fails by itself is reported, to one.
void Evidence::listen(const History& history) {
  struct Window {
    ErrorFilter filter;
    std::set<std::string> labels;  ///< of the calls in it
  };
  std::vector<Window> open;
  std::map<std::string, std::set<ErrorFilter>> taken;  ///< filters of the scopes around a call
  const auto keeps_others = [&](const Window& window) {
    swallowed_.insert(window.labels.begin(), window.labels.end());
  };
  for (const auto& made : history.calls) {
    const auto label = label_of(made.client, made.index);
    for (auto& [filter, labels] : open) {
      labels.insert(label);
      if (made.submitted && !made.thrown) taken[label].insert(filter);
    }
    if (!made.submitted) continue;
    if (made.call.kind == Kind::push_scope)
      open.push_back({static_cast<ErrorFilter>(made.call.way), {}});
    if (made.call.kind != Kind::pop_scope || open.empty()) continue;
    // It keeps the first: of others in it nobody hears.
    if (made.answer && made.answer->found) {
      hear(*made.answer->found);
      keeps_others(open.back());
    }
    open.pop_back();
  }
  for (const auto& error : history.uncaptured) {
    hear(error);
    if (!may_end() && taken[error.label()].contains(filter_of(error)) && !wrong)
      wrong = std::string("the handler heard what a scope should have had: ") + error.what();
  }
  for (const auto& error : history.left) hear(error);
  if (!history.left.empty()) std::ranges::for_each(open, keeps_others);
  for (const auto& [label, times] : heard_)
    if (times > 1 && !wrong)
      wrong = "the error of " + label + " was heard " + std::to_string(times) + " times";
}

void Evidence::hear(const Error& error) {
  if (!inherent_ && error.kind() == ErrorKind::graph_invalid && !wrong)
    wrong = std::string("no graph is invalid: ") + error.what();
  if (!error.label().empty() && error.label().front() == 'c') ++heard_[error.label()];
}

bool Evidence::lacks_bytes(const Call& call) const {
  constexpr std::array takers{Kind::create,  Kind::constant, Kind::write,
                              Kind::compute, Kind::dispatch, Kind::build};
  return scarce_ && std::ranges::find(takers, call.kind) != takers.end();
}

std::optional<bool> Evidence::failed(const std::string& label) const {
  if (heard_.contains(label)) return true;
  if (may_end() || swallowed_.contains(label)) return std::nullopt;
  return false;
}

}  // namespace polychron::stress
