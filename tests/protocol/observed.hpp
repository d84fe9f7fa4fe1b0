// Work of many kinds on a runtime in a driven world, for observers.
#pragma once

#include <memory>
#include <string>

#include "tests/protocol/fixture.hpp"

namespace polychron::testing {

/// A runtime in a world's system, beside the world's own. A test can reach its state.
struct Observed {
  Observed(stress::World& of, const std::shared_ptr<msg::Observer>& observer)
      : world(of),
        state(detail::RuntimeState::embed(
            world.system(),
            [](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
              return std::shared_ptr<kernels::Backend>(std::make_shared<stress::SymbolicBackend>());
            },
            {.detached = false,
             .now = [this] { return world.now(); },
             .meanwhile = [this] { return world.step(); },
             .options = {.scheduler_threads = 0,
                         .executor = [](std::function<void()> callback) { callback(); },
                         .on_callback_exception = {}}})),
        runtime(state) {
    if (observer) state->observe(observer);
  }
  stress::World& world;
  std::shared_ptr<detail::RuntimeState> state;
  Runtime runtime;
};

/// Work of many kinds, on one context; gives everything that came of it, as text.
inline std::string work(Observed& observed, int lanes) {
  auto& world = observed.world;
  ContextOptions options;
  options.lanes = lanes;
  auto context = world.settle(observed.runtime.create_context(options)).value();
  const auto tensor = [&] {
    return world.settle(context.create_tensor(stress::value_descriptor)).value();
  };
  std::string said;
  const auto say = [&](auto result) {
    if constexpr (requires { result->template as<std::uint64_t>(); })
      said += (result ? std::to_string(result->template as<std::uint64_t>()[0])
                      : std::string(result.error().what())) +
              "\n";
  };
  const auto a = tensor(), b = tensor(), c = tensor();
  auto gone = tensor();
  auto graph =
      world.settle(detail::submit_build(context, stress::symbolic_graph("g", 1), {"g"})).value();
  context.push_error_scope(ErrorFilter::validation);
  auto lease = world.settle(context.export_tensor(c)).value();
  for (std::uint64_t i = 0; i < 5; ++i) {
    context.write_tensor(a, std::vector{i});
    context.dispatch(graph, {{"in0", a}}, {{"out", b}});
    say(world.settle(context.read_tensor(b)));
  }
  context.dispatch(graph, {{"in0", b}}, {{"out", c}});
  auto behind = context.read_tensor(c);
  said += "pending: " + std::to_string(world.settle(context.pending()).value().size() > 0) + "\n";
  lease.return_now();
  say(world.settle(std::move(behind)));
  gone.destroy();
  auto late = DispatchOptions{};
  late.deadline = world.now() - std::chrono::seconds(1);
  late.label = "late";
  context.dispatch(graph, {{"in0", a}}, {{"out", b}}, late);
  say(world.settle(context.read_tensor(b)));
  auto error = world.settle(a.error());
  said += error && !*error ? "fine\n" : "errored\n";
  static_cast<void>(world.settle(context.pop_error_scope()));
  graph.destroy();
  world.run();
  return said;
}

}  // namespace polychron::testing
