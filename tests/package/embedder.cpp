// Polychron in an actor system that the program already owns.
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <cstdio>
#include <polychron/caf.hpp>

int main() {
  caf::actor_system_config config;
  caf::actor_system system{config};
  auto runtime = polychron::make_runtime(system);
  auto context = runtime.create_context({.label = "embedded"}).get();
  const auto actor = polychron::actor_of(context);
  std::printf("%s", actor ? context.label().c_str() : "no actor");
}
