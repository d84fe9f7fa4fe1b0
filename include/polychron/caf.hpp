// For embedders who run CAF themselves. The only public header from which a CAF type can be
// reached.
#pragma once

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include "polychron/runtime.hpp"

namespace polychron {

/// A runtime whose actors live in `system`, which must outlive the runtime and every handle from
/// it. The system's scheduler serves the actors; devices and compilers get threads of their own.
/// Drop the runtime on another thread than the scheduler's, which the actors need to end. Bound the
/// scheduler's turns (scheduler.max-throughput, such as 64): CAF's default lets an actor with a
/// backlog keep its thread from all others. Callbacks run on a thread of the runtime's own.
Runtime make_runtime(caf::actor_system& system);

/// The actor of a context, for monitoring and linking. Its protocol is internal. To tell those who
/// monitor it of its end takes memory: where there is none just then, the process ends.
caf::actor actor_of(const Context& context);

}  // namespace polychron
