#include "messages/shared/library_thread.hpp"

namespace polychron::msg {

namespace {
thread_local bool carries = false;
}

bool carries_actors() noexcept { return carries; }

void carry_actors_for_good() noexcept { carries = true; }

CarriesActors::CarriesActors() noexcept { carries = true; }

CarriesActors::~CarriesActors() { carries = false; }

}  // namespace polychron::msg
