// The compiler actor: turns a graph description into a plan, on a thread of its own, so that a
// build never stalls dispatches. Owns nothing that lasts.
#pragma once

#include "actors/actor.hpp"
#include "messages/types.hpp"

namespace polychron::actors {

class CompilerState : public State<compiler_actor> {
 public:
  static inline const char* name = "compiler";
  using State::State;

  compiler_actor::behavior_type start(EnvironmentRef environment, caf::actor_addr context);

 private:
  void compile(const msg::compile& m);
};

}  // namespace polychron::actors
