// Looks at what the actors of a context share.
#pragma once

#include "observe/stress/quiescence.hpp"
#include "observe/stress/subject.hpp"

namespace polychron::stress {

actors::EnvironmentRef environment_of(const Context& context);
/// Describes what is left of a world at rest.
QuiescentState quiescent_state_of(const Subject& subject, Phase phase);

}  // namespace polychron::stress
