// The graph actor.
//
// Owns the content side of a compiled graph: whether it is destroyed or invalid. Attaches the plan
// to each dispatch; never runs it. Invariant: every ticket it is given goes on to the device
// exactly once. Ends when the device has released the plan.
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
  void run(const msg::run& m);
  void run_batch(const msg::run_batch& m);
  void destroy(const msg::destroy_graph& m);
  void loaded(const msg::loaded& m);
  void batch_done(const msg::batch_done& m);
  void invalidated(const msg::invalidated& m);
  void plan_released(const msg::plan_released& m);

  const device_actor& device(const msg::Stamp& stamp) const { return devices_[stamp.at.lane]; }
  Error invalid_error(const char* operation, const std::string& label, msg::Ticket ticket) const;

  msg::GraphRef slot_;
  std::vector<device_actor> devices_;  ///< by lane
  std::map<msg::Ticket, msg::BatchRef> batches_;
  Promise<msg::Built> reply_;
  bool destroyed_ = false;
  std::shared_ptr<const Error> invalid_;  ///< why every dispatch would fail, or null
};

}  // namespace polychron::actors
