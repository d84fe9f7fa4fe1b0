// The graph actor.
//
// Owns the content side of a compiled graph: the replies of its build and of its computes, whether
// it is destroyed. Dispatches need no answer and do not come here. Invariant: every stamp it is
// given goes on to the device exactly once. Ends when the device has released the plan.
#pragma once

#include <map>

#include "actors/actor.hpp"
#include "messages/types.hpp"

namespace polychron::actors {

class GraphState : public State<graph_actor> {
 public:
  static inline const char* name = "graph";
  using State::State;
  ~GraphState();

  graph_actor::behavior_type start(EnvironmentRef environment, msg::GraphRef slot,
                                   std::vector<device_actor> devices, caf::actor_addr context,
                                   Promise<msg::Built> reply);

 private:
  void run_batch(const msg::run_batch& m);
  void destroy(const msg::destroy_graph& m);
  void loaded(const msg::loaded& m);
  void batch_done(const msg::batch_done& m);
  void plan_released(const msg::plan_released& m);

  const device_actor& device(const msg::Stamp& stamp) const { return devices_[stamp.at.lane]; }

  msg::GraphRef slot_;
  std::vector<device_actor> devices_;  ///< by lane
  std::map<msg::Ticket, msg::BatchRef> batches_;
  Promise<msg::Built> reply_;
  bool destroyed_ = false;
};

}  // namespace polychron::actors
