#include "polychron/caf.hpp"

#include "runtime/handles.hpp"

namespace polychron {

Runtime make_runtime(caf::actor_system& system) {
  return Runtime(detail::RuntimeState::embed(system, detail::make_backend, true));
}

caf::actor actor_of(const Context& context) {
  return caf::actor_cast<caf::actor>(detail::ContextHandle::of(context)->actor);
}

}  // namespace polychron
