// The interface between actors and devices: the few calls that a device actor and a compiler actor
// make.
//
// Backends are rows of the table in devices.cpp: cpu (passes, plan, oneDNN and Eigen kernels) and
// gpu (oneDNN on an OpenCL device). stress/ has a symbolic one for schedule exploration, and others
// that wrap a backend. A backend returns failures as Results.
// docs/devices.md tells how to write one; tests/backends holds every backend to these promises.
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

/// Scratch memory of one lane, which the instances of its plans share: a lane runs one of them at a
/// time. The lane makes it large enough before it runs one, and may then move it.
struct LaneArena {
  Buffer bytes;
};

/// How a plan is made ready for a lane.
struct InstanceOptions {
  /// The lane's threads, or null for one. They share the work of steps and change no result. A
  /// backend whose device has threads of its own ignores them.
  std::shared_ptr<Team> team = nullptr;
  /// The lane's scratch memory, of Plan::arena_bytes() or more, or null: the instance has its own.
  /// Null for plans that do not share it, and if executions are submitted.
  std::shared_ptr<LaneArena> arena = nullptr;
};

/// A tensor's memory on a device. The device actor owns it. It may outlive the backend.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::size_t bytes() const noexcept = 0;
};

/// The error of a copy whose bytes are not as many as the storage's.
inline Error wrong_size(const Storage& storage, std::size_t bytes) {
  return Error(ErrorKind::internal, "storage of " + std::to_string(storage.bytes()) +
                                        " bytes was given " + std::to_string(bytes));
}

/// A compiled graph: the steps and the prepared constants. Immutable; all lanes share it.
class Plan {
 public:
  virtual ~Plan() = default;
  /// All bytes of scratch memory that an instance uses: on the device, and on the host.
  virtual std::size_t arena_bytes() const noexcept = 0;
  /// True if its instances use InstanceOptions::arena, and keep nothing in it from run to run.
  virtual bool shares_arena() const noexcept { return false; }
  /// The prepared constants that the plan keeps, each listed once. Other plans may share them.
  virtual std::span<const ops::ConstantBytes> constants() const noexcept { return {}; }
  /// Bytes of all constants that the plan keeps.
  virtual std::size_t constant_bytes() const noexcept { return total_bytes(constants()); }
  /// One line per step: operators, implementation, shapes. `polychron inspect` and tests read it.
  virtual std::vector<std::string> describe() const = 0;
  /// One label for each line of describe(), in its order: of the step's operator, or "".
  virtual std::vector<std::string> labels() const { return {}; }
};

/// A plan made ready for one lane: its arena and the arguments bound to it. That lane's device
/// actor owns it and executes one dispatch at a time. It keeps the plan alive.
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

/// Hears that a submitted execution has ended.
class Completion {
 public:
  virtual ~Completion() = default;
  virtual void notify() noexcept = 0;
};

/// Thread-safety: each lane's device actor calls from its own thread, and a compiler actor calls
/// compile() from another. So all calls may overlap. One thread at a time uses a PlanInstance, or
/// writes a Storage; several may read one. Only BrokenInvariant may be thrown.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  /// Allocates `bytes` zeroed bytes. (WebNN: a tensor that was never written reads as zeros.)
  virtual Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) = 0;
  /// Turns host memory into storage, in place if the device can use it there, otherwise by a copy.
  /// Takes the bytes only if it succeeds.
  virtual Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) = 0;
  /// The storage as host memory, in place; valid as long as the storage. Returns not_supported if
  /// the host cannot reach it.
  virtual Result<std::span<std::byte>> map(Storage& storage) = 0;
  /// Gives adopted memory back with the storage's bytes: the same Buffer, or a new one if adopt()
  /// could not use its address. Only for storage that adopt() made.
  virtual Result<Buffer> surrender(std::unique_ptr<Storage> storage) = 0;
  /// Copies all the bytes. Other sizes than the storage's are an internal error.
  virtual Result<void> write(Storage& storage, std::span<const std::byte> bytes) = 0;
  /// The same, the other way.
  virtual Result<void> read(const Storage& storage, std::span<std::byte> bytes) = 0;
  virtual Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph> graph) = 0;
  /// Binds the steps to the arena of one lane, and allocates it unless it is given.
  virtual Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan> plan,
                                                            const InstanceOptions& options) = 0;
  /// Runs `plan`. Inputs and outputs are in the graph's order; the caller guarantees their numbers
  /// and sizes, and that no output occurs twice. Inputs stay as they are. Outputs are indeterminate
  /// after a failure. Allocates nothing unless it fails.
  virtual ExecuteStatus execute(PlanInstance& plan, std::span<Storage* const> inputs,
                                std::span<Storage* const> outputs) = 0;
  /// Runs `plan` as execute() does and measures each step: `seconds` has an entry for each line of
  /// Plan::describe(), or none. A backend without steps leaves it unchanged.
  virtual ExecuteStatus profile(PlanInstance& plan, std::span<Storage* const> inputs,
                                std::span<Storage* const> outputs,
                                [[maybe_unused]] std::span<double> seconds) {
    return execute(plan, inputs, outputs);
  }

  // A backend whose device works by itself may also have these three. Then lanes submit dispatches,
  // and copy other tensors meanwhile.
  /// True if it has submit() and finish().
  virtual bool submits() const noexcept { return false; }
  /// Starts `plan` as execute() does, and returns while the device is at work. `done` is notified
  /// once, when the device has finished: by any thread, also before this call returns, or after
  /// finish(). Then the caller calls finish(), also if it hears of the end by other means. Until
  /// that returns, the instance and the storages stay alive. Nobody else uses the instance and the
  /// outputs. Inputs may be read, or be inputs of other executions, by any thread. The backend
  /// copies the spans. A failure to start is returned by finish().
  virtual void submit([[maybe_unused]] PlanInstance& plan,
                      [[maybe_unused]] std::span<Storage* const> inputs,
                      [[maybe_unused]] std::span<Storage* const> outputs,
                      [[maybe_unused]] std::shared_ptr<Completion> done) noexcept {}
  /// Waits until the submitted execution has ended. Returns what execute() would have returned.
  virtual ExecuteStatus finish([[maybe_unused]] PlanInstance& plan) {
    return {Error(ErrorKind::internal, name() + " has nothing to finish")};
  }
};

/// Passes every call to another backend. A backend that wraps one overrides what it changes.
class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(std::shared_ptr<Backend> inner) : inner_(std::move(inner)) {}

  std::string name() const override { return inner_->name(); }
  Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) override {
    return inner_->allocate(bytes);
  }
  Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) override {
    return inner_->adopt(std::move(bytes));
  }
  Result<std::span<std::byte>> map(Storage& storage) override { return inner_->map(storage); }
  Result<Buffer> surrender(std::unique_ptr<Storage> storage) override {
    return inner_->surrender(std::move(storage));
  }
  Result<void> write(Storage& storage, std::span<const std::byte> bytes) override {
    return inner_->write(storage, bytes);
  }
  Result<void> read(const Storage& storage, std::span<std::byte> bytes) override {
    return inner_->read(storage, bytes);
  }
  Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph> graph) override {
    return inner_->compile(std::move(graph));
  }
  Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan> plan,
                                                    const InstanceOptions& options) override {
    return inner_->instantiate(std::move(plan), options);
  }
  ExecuteStatus execute(PlanInstance& plan, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs) override {
    return inner_->execute(plan, inputs, outputs);
  }
  ExecuteStatus profile(PlanInstance& plan, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs, std::span<double> seconds) override {
    return inner_->profile(plan, inputs, outputs, seconds);
  }
  bool submits() const noexcept override { return inner_->submits(); }
  void submit(PlanInstance& plan, std::span<Storage* const> inputs,
              std::span<Storage* const> outputs,
              std::shared_ptr<Completion> done) noexcept override {
    inner_->submit(plan, inputs, outputs, std::move(done));
  }
  ExecuteStatus finish(PlanInstance& plan) override { return inner_->finish(plan); }

 protected:
  Backend& inner() const noexcept { return *inner_; }

 private:
  const std::shared_ptr<Backend> inner_;
};

}  // namespace polychron::kernels
