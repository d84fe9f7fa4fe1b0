#include "actors/graph.hpp"

namespace polychron::actors {

void GraphState::start(msg::GraphId id, msg::Built built, Promise<msg::Built> reply) {
  id_ = id;
  built_ = std::move(built);
  reply_ = std::move(reply);
  msg::count(environment().counters->graphs);
}

GraphState::~GraphState() {
  reply_.reject(environment().lost->error());
  // planted: graphs are not counted off
  --environment().counters->graphs;
}

void GraphState::receive(msg::expect_of_graph& m) {
  ensure(m.ticket != 0 && !destroyed_, "nothing is asked of a destroyed graph");
  const bool added = owed_.emplace(m.ticket, std::move(m.batch)).second;
  ensure(added, "a ticket owes one reply");
}

void GraphState::receive(const msg::graph_answered& m) {
  const auto taken = owed_.erase(m.ticket);
  ensure(taken == 1, "a compute is answered once");
}

void GraphState::receive(const msg::graph_became& m) {
  std::visit([this](const auto& outcome) { became(outcome); }, m.outcome);
}

void GraphState::became(const msg::Ready&) {
  const bool first = reply_.resolve(std::move(built_));
  ensure(first, "a build is answered once");
}

void GraphState::became(const msg::Errored& outcome) { reply_.reject(outcome.error); }

void GraphState::became(const msg::Invalid& outcome) {
  ensure(!invalid_, "a graph becomes invalid once");
  invalid_ = outcome.error;
}

void GraphState::became(const msg::Released&) {
  ensure(destroyed_ && owed_.empty(), "a plan is released after all that needs it");
  // planted: a destroyed graph stays in the context's table
  if (const auto owner = context()) tell(owner, msg::graph_gone{id_});
  self().quit();
}

void GraphState::receive(const msg::destroy_graph&) {
  ensure(!destroyed_, "a graph is destroyed once");
  destroyed_ = true;
}

}  // namespace polychron::actors
