#include "observe/stress/history_facts.hpp"

#include <algorithm>

namespace polychron::stress {

namespace {

/// Labels of clients' calls begin so. Other errors name the object that they are about.
bool is_of_a_call(const std::string& label) { return label.starts_with('c'); }

}  // namespace

HistoryFacts::HistoryFacts(const Program& program, const History& history) {
  foresee(program, history);
  listen(history);
}

void HistoryFacts::fail(const std::string& what) {
  if (!wrong) wrong = what;
}

void HistoryFacts::foresee(const Program& program, const History& history) {
  for (std::size_t i = 0; i < history.calls.size(); ++i) {
    const auto& made = history.calls[i];
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
  scarce_ = program.may_lack_bytes();
  for (const auto& fault : program.faults) {
    points_.insert(fault.point);
    inherent_ |= fault.inherent;
    throws_ |= fault.throws;
    // The schedule decides which of them loses the context, and so which operation meets the loss.
    if (fault.kind == ErrorKind::context_lost) may_be_lost_ = true;
  }
}

// Every operation that fails by itself is reported, to one listener.
void HistoryFacts::listen(const History& history) {
  for (const auto& made : history.calls) {
    const auto label = label_of(made.client, made.index);
    for (auto& scope : open_) {
      scope.labels.insert(label);
      around_[label][scope.filter] = scope.number;
    }
    if (made.thrown) threw(made);
    if (!made.submitted) continue;
    if (made.call.kind == Kind::push_scope)
      open_.push_back({static_cast<ErrorFilter>(made.call.way), {}, ++scopes_, false});
    if (made.call.kind == Kind::pop_scope) pop(made);
  }
  for (const auto& error : history.uncaptured) {
    hear(error);
    if (!may_end() && around_[error.label()].contains(filter_of(error)))
      fail(std::string("the handler heard what a scope should have had: ") + error.what());
  }
  for (const auto& error : history.left) hear(error);
  if (!history.left.empty())
    for (const auto& scope : open_) swallowed_.insert(scope.labels.begin(), scope.labels.end());
  for (const auto& [label, times] : heard_)
    if (times > 1) fail("the error of " + label + " was heard " + std::to_string(times) + " times");
}

// Not every refusal is reported: at most one report of them is queued at a time.
void HistoryFacts::threw(const Made& made) {
  if (may_end() || made.thrown->root().kind() == ErrorKind::quota_exceeded) return;
  const auto innermost = std::find_if(open_.rbegin(), open_.rend(), [&](const Scope& scope) {
    return scope.filter == filter_of(*made.thrown);
  });
  if (innermost != open_.rend()) innermost->thrown = true;
}

void HistoryFacts::pop(const Made& made) {
  const auto label = label_of(made.client, made.index);
  const bool resolved = made.answer && !made.answer->error;
  if (open_.empty()) {
    if (resolved) fail(label + " popped a scope where none was");
    return;
  }
  const Scope scope = std::move(open_.back());
  open_.pop_back();
  if (!resolved) return;
  const auto& found = made.answer->found;
  if (!found) {
    if (scope.thrown) fail(label + " found nothing, and a call in its scope had thrown");
    return;
  }
  hear(*found);
  // The scope keeps the first error. Nobody hears of the others in it.
  swallowed_.insert(scope.labels.begin(), scope.labels.end());
  if (filter_of(*found) != scope.filter)
    return fail(label + " found what its filter does not take: " + found->what());
  if (!is_of_a_call(found->label())) return;
  if (!scope.labels.contains(found->label()))
    return fail(label + " found what was called outside of it: " + found->what());
  if (around_[found->label()][scope.filter] != scope.number)
    fail(label + " found what a scope within it should have had: " + found->what());
}

void HistoryFacts::hear(const Error& error) {
  if (!inherent_ && error.kind() == ErrorKind::graph_invalid)
    fail(std::string("no graph is invalid: ") + error.what());
  if (!throws_ && error.root().kind() == ErrorKind::internal)
    fail(std::string("an invariant is broken: ") + error.what());
  const Error* const cause = error.cause();
  if (cause != nullptr && !inherent_ && is_of_a_call(cause->label()))
    fail(std::string("what only followed from another error was reported: ") + error.what());
  if (!is_of_a_call(error.label())) return;
  ++heard_[error.label()];
}

bool HistoryFacts::may_be_skipped(const Call& call) const {
  return call.deadline != 0 || cancels(call.cancellation);
}

bool HistoryFacts::lacks_bytes(const Call& call) const { return scarce_ && takes_bytes(call.kind); }

bool HistoryFacts::may_be_turned_away(const Call& call) const {
  const bool lacks = few_places_ || (call.kind == Kind::write && lacks_bytes(call));
  return lacks && (!blocks_ || lends_);
}

std::optional<bool> HistoryFacts::failed(const std::string& label) const {
  if (heard_.contains(label)) return true;
  if (may_end() || swallowed_.contains(label)) return std::nullopt;
  return false;
}

}  // namespace polychron::stress
