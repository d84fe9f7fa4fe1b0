#include "actors/compiler.hpp"

#include "kernels/guarded.hpp"

namespace polychron::actors {

compiler_actor::behavior_type CompilerState::start(EnvironmentRef environment,
                                                   caf::actor_addr context) {
  enter(std::move(environment), std::move(context));
  return {[this](const msg::compile& m) { compile(m); }};
}

void CompilerState::compile(const msg::compile& m) {
  environment().compiling = m.graph;
  const auto plan = std::make_shared<Result<std::shared_ptr<kernels::Plan>>>(kernels::guarded(
      [&] { return environment().backend->compile(*m.description, {environment().threads}); }));
  environment().compiling = 0;
  if (const auto owner = context())
    tell(owner, msg::compiled{m.graph, m.description, m.reply, plan});
}

}  // namespace polychron::actors
