// For embedders that run CAF themselves. This is the only public header that includes CAF.
#pragma once

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include "polychron/runtime.hpp"

namespace polychron {

/// A runtime whose actors live in `system`, which must outlive the runtime and every handle from
/// it. The system's scheduler serves the actors; devices, compilers and callbacks get threads of
/// their own. Never drop the runtime on a scheduler thread: the actors need those threads to end.
/// Set scheduler.max-throughput (64, for example): by default CAF lets an actor with a backlog
/// occupy its thread indefinitely. Throws out_of_memory (also if the system refuses a thread).
Runtime make_runtime(caf::actor_system& system);

/// The actor of a context, for monitoring and linking. Its protocol is internal. CAF allocates
/// memory to notify monitors of its end: if that allocation fails, the process ends.
caf::actor actor_of(const Context& context);

}  // namespace polychron
