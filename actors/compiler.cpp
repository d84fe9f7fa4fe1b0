#include "actors/compiler.hpp"

namespace polychron::actors {

compiler_actor::behavior_type CompilerState::start(EnvironmentRef environment,
                                                   caf::actor_addr context) {
  enter(std::move(environment), std::move(context));
  return {[this](const msg::compile& m) { compile(m); }};
}

void CompilerState::compile(const msg::compile& m) {
  using Plan = Result<std::shared_ptr<kernels::Plan>>;
  const auto attempt = [&]() -> Plan {
    try {
      return environment().backend->compile(*m.description, {environment().threads});
    } catch (const Error& error) {
      return error;
    } catch (const std::bad_alloc&) {
      return Error(ErrorKind::out_of_memory, "out of memory");
    } catch (const std::exception& e) {
      return Error(ErrorKind::operation_error, e.what());
    }
  };
  environment().compiling = m.graph;
  auto plan = std::make_shared<Plan>(attempt());
  environment().compiling = 0;
  if (const auto owner = context())
    tell(owner, msg::compiled{m.graph, m.description, m.reply, std::move(plan)});
}

}  // namespace polychron::actors
