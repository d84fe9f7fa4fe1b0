// The compiler actor: turns a graph description into a plan, on a thread of its own, so that a
// build never stalls dispatches. Keeps no state between builds. Compiles nothing once the context
// is lost or the process ends.
#pragma once

#include "actors/actor.hpp"

namespace polychron::actors {

class CompilerState : public Member<CompilerState, compiler_actor> {
 public:
  static inline const char* name = "compiler";
  static constexpr bool may_be_helped = false;
  using Member::Member;

  void start() {}
  void receive(msg::compile& m);
};

}  // namespace polychron::actors
