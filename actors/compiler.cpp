#include "actors/compiler.hpp"

#include "kernels/guarded.hpp"

namespace polychron::actors {

void CompilerState::receive(msg::compile& m) {
  if (environment().lost->lost()) return;
  environment().compiling.with(m.call.graph);
  auto plan = kernels::guarded([&] { return environment().backend->compile(m.call.description); });
  environment().compiling.with(0);
  if (const auto owner = context())
    tell(owner,
         msg::compiled{std::move(m.call), std::move(m.reply), std::move(m.place), std::move(plan)});
}

}  // namespace polychron::actors
