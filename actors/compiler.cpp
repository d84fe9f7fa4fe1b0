#include "actors/compiler.hpp"

#include "base/before_exit.hpp"
#include "kernels/guarded.hpp"

namespace polychron::actors {

void CompilerState::receive(msg::compile& m) {
  const BeforeExit build;  // it uses static variables of oneDNN
  if (environment().lost->lost() || !build) return;
  environment().compiling.with(m.call.graph);
  auto plan = kernels::guarded([&] {
    // Only this compilation still holds the constants; the plan has its own copy of them.
    auto outline = std::make_shared<const ops::Graph>(ops::outline_of(*m.call.description));
    return environment().backend->compile(std::exchange(m.call.description, std::move(outline)));
  });
  environment().compiling.with(0);
  if (const auto owner = context())
    tell(owner, msg::compiled{std::move(m.call), std::move(m.reply), std::move(m.permit),
                              std::move(plan), std::move(m.loads)});
}

}  // namespace polychron::actors
