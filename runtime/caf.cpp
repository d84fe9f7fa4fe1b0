#include "polychron/caf.hpp"

#include "runtime/handles.hpp"
#include "runtime/local_port.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron {

Runtime make_runtime(caf::actor_system& system) {
  return detail::with_errors(
      [&] { return Runtime(detail::RuntimeState::embed(system, detail::make_backend)); });
}

caf::actor actor_of(const Context& context) {
  const auto* const port =
      dynamic_cast<const detail::LocalPort*>(detail::ContextHandle::of(context)->port.get());
  return port == nullptr ? caf::actor() : caf::actor_cast<caf::actor>(port->actor());
}

}  // namespace polychron
