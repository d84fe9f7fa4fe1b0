// The interface between actors and devices: the few calls that a device actor and a compiler actor
// make.
//
// Implementations: the CPU backend (cpu/cpu_backend: passes, plan, oneDNN and Eigen kernels). In
// stress/ there are a symbolic one for schedule exploration and a decorator that injects faults. A
// backend returns failures as Results. It never throws into an actor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/constants.hpp"
#include "ops/graph.hpp"
#include "polychron/buffer.hpp"
#include "polychron/result.hpp"

namespace polychron::kernels {

class Team;

/// A tensor's memory on a device. The device actor owns it; one thread at a time uses it.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::size_t bytes() const noexcept = 0;
};

/// A compiled graph: the steps and the prepared constants. Immutable; all lanes share it.
class Plan {
 public:
  virtual ~Plan() = default;
  /// Bytes of scratch memory that each instance allocates.
  virtual std::size_t arena_bytes() const noexcept = 0;
  /// The prepared constants that the plan keeps, each listed once. Other plans may share them.
  virtual std::span<const ops::ConstantBytes> constants() const noexcept { return {}; }
  /// Bytes of all constants that the plan keeps.
  virtual std::size_t constant_bytes() const noexcept { return total_bytes(constants()); }
  /// One line per step: operators, implementation, shapes. `polychron inspect` and tests read it.
  virtual std::vector<std::string> describe() const = 0;
  /// The label of each step's operator. Empty if the backend keeps no labels.
  virtual std::vector<std::string> labels() const { return {}; }
};

/// A plan made ready for one lane: its arena and the arguments bound to it. That lane's device
/// actor owns it and executes one dispatch at a time.
class PlanInstance {
 public:
  virtual ~PlanInstance() = default;
};

/// A failed execution. `inherent` is true if every later dispatch of this plan would fail the same
/// way.
struct ExecuteStatus {
  Result<void> result;
  bool inherent = false;
};

/// Thread-safety: compile() may run on another thread than the other calls. One device actor makes
/// all other calls, one at a time.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  /// Allocates `bytes` zeroed bytes. (WebNN: a tensor that was never written reads as zeros.)
  virtual Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) = 0;
  /// Turns host memory into storage, in place if the device can use it there, otherwise by a copy.
  /// Takes the bytes only if it succeeds.
  virtual Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) = 0;
  /// The storage as host memory, in place. Returns not_supported if the host cannot reach it.
  virtual Result<std::span<std::byte>> map(Storage& storage) = 0;
  /// Takes adopted memory back out, without a copy if adopt() made none.
  virtual Result<Buffer> surrender(std::unique_ptr<Storage> storage) = 0;
  virtual Result<void> write(Storage& storage, std::span<const std::byte> bytes) = 0;
  virtual Result<void> read(const Storage& storage, std::span<std::byte> bytes) = 0;
  virtual Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph> graph) = 0;
  /// Allocates the arena of one lane and binds the steps to it. `team` is the lane's, or null. It
  /// shares the work of the steps and changes no result.
  virtual Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan> plan,
                                                            std::shared_ptr<Team> team) = 0;
  /// Runs `plan`. Inputs and outputs are in the graph's order; no storage occurs twice. Allocates
  /// nothing.
  virtual ExecuteStatus execute(PlanInstance& plan, std::span<Storage* const> inputs,
                                std::span<Storage* const> outputs) = 0;
  /// Runs `plan` as execute() does and measures each step, in the order of Plan::describe(). A
  /// backend without steps leaves `seconds` unchanged.
  virtual ExecuteStatus profile(PlanInstance& plan, std::span<Storage* const> inputs,
                                std::span<Storage* const> outputs,
                                [[maybe_unused]] std::span<double> seconds) {
    return execute(plan, inputs, outputs);
  }
};

}  // namespace polychron::kernels
