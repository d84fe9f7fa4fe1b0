// The context actor: its beginning, with the actors that have threads, and its end.
#include "actors/compiler.hpp"
#include "actors/context.hpp"
#include "actors/device.hpp"

namespace polychron::actors {

DeviceActors spawn_device_actors(caf::actor_system& system, const EnvironmentRef& environment) {
  DeviceActors spawned;
  try {
    for (std::uint32_t lane = 0; lane < environment->lanes.size(); ++lane) {
      const auto doing = [progress = std::shared_ptr<const msg::LaneProgress>(
                              environment, &environment->lanes[lane])]() -> std::string {
        const auto running = progress->running();
        if (!running) return "";
        return std::string(running->operation) + " (ticket " + std::to_string(running->ticket) +
               ")";
      };
      spawned.lanes.push_back(spawn_on_thread<DeviceState>(system, environment, doing, lane));
    }
    const auto doing = [environment]() -> std::string {
      const auto graph = environment->compiling.what();
      return graph == 0 ? "" : "build of graph #" + std::to_string(graph);
    };
    spawned.compiler = spawn_on_thread<CompilerState>(system, environment, doing);
  } catch (...) {
    for (const auto& lane : spawned.lanes) end_actor(lane);
    throw;
  }
  return spawned;
}

context_actor spawn_context(caf::actor_system& system, const EnvironmentRef& environment) {
  const auto spawned = spawn_device_actors(system, environment);
  try {
    auto context = spawn_in<ContextState>(system, nullptr, environment, {}, nullptr, spawned);
    if (environment->caller_runs)
      environment->caller_runs->set_context(caf::actor_cast<caf::actor_addr>(context));
    return context;
  } catch (...) {
    for (const auto& lane : spawned.lanes) end_actor(lane);
    end_actor(spawned.compiler);
    throw;
  }
}

void ContextState::call(const msg::DestroyContext&, msg::LocalPart&) {
  lose(LostReason::destroyed, "the context was destroyed");
  self().quit();
}

void ContextState::receive(const msg::tensor_gone& m) { ending_tensors_.erase(m.tensor); }

void ContextState::receive(const msg::graph_gone& m) { ending_graphs_.erase(m.graph); }

void ContextState::receive(const msg::actor_failed& m) {
  ended_by(m);
  self().quit();
}

void ContextState::told_to_end(const caf::error& reason) {
  lose(LostReason::device_failed, "the context's actor was ended: " + caf::to_string(reason));
}

void ContextState::ended_by(const msg::actor_failed& failure) noexcept {
  lose(failure.out_of_memory ? LostReason::out_of_memory : LostReason::device_failed,
       failure.message);
}

void ContextState::lose(LostReason reason, std::string_view message) noexcept {
  environment().lose(reason, message, self().id());
  // Ends all actors. Dropping their states and mail rejects the replies that they owe.
  for (const auto& [id, entry] : tensors_) end_actor(entry.actor);
  for (const auto& [id, entry] : graphs_) end_actor(entry.actor);
  for (const auto& [id, actor] : ending_tensors_) end_actor(actor);
  for (const auto& [id, actor] : ending_graphs_) end_actor(actor);
  // planted: the end leaves the lanes alone
  for (const auto& lane : device_actors_.lanes) end_actor(lane);
  if (device_actors_.compiler) end_actor(device_actors_.compiler);
  tensors_.clear();
  graphs_.clear();
  ending_tensors_.clear();
  ending_graphs_.clear();
  builds_.clear();
  device_actors_ = {};
}

ContextState::~ContextState() { lose(LostReason::device_failed, "the context's actor has ended"); }

}  // namespace polychron::actors
