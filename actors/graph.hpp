// The graph actor.
//
// Owns the life cycle of a compiled graph: the reply of its build, the pending computes, its error
// if it is invalid, and its destruction. Dispatches need no answer and do not come here. Invariant:
// a lane or this actor answers every compute that it was told of. Ends when a lane has released the
// plan.
#pragma once

#include <map>

#include "actors/actor.hpp"
#include "messages/slot.hpp"

namespace polychron::actors {

class GraphState : public Member<GraphState, graph_actor> {
 public:
  static inline const char* name = "graph";
  using Member::Member;
  ~GraphState();

  void start(msg::GraphId id, msg::Built built, Promise<msg::Built> reply);
  void receive(msg::expect_of_graph& m);
  void receive(const msg::graph_answered& m);
  void receive(const msg::graph_became& m);
  void receive(const msg::destroy_graph& m);

 private:
  void became(const msg::Ready&);
  void became(const msg::Errored& outcome);
  void became(const msg::Invalid& outcome);
  void became(const msg::Released&);

  msg::GraphId id_ = 0;
  msg::Built built_;
  Promise<msg::Built> reply_{nullptr};
  std::map<msg::Ticket, msg::BatchLoanGuard> owed_;
  std::optional<Error> invalid_;
  bool destroyed_ = false;
};

}  // namespace polychron::actors
