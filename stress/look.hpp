// Looks at what the actors of a context share.
#pragma once

#include "stress/board.hpp"
#include "stress/remains.hpp"

namespace polychron::stress {

actors::EnvironmentRef environment_of(const Context& context);
/// Describes what is left of a world at rest.
Remains remains_of(const Board& board, Rest rest);

}  // namespace polychron::stress
