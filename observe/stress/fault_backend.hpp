// A backend that fails on purpose: the n-th allocation, copy, kernel or compilation, once or
// permanently, or at random from a seed. Wraps any other backend.
#pragma once

#include <cstdint>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "kernels/backend.hpp"

namespace polychron::stress {

/// Operations of a backend that can be made to fail.
enum class FaultPoint : std::uint8_t { allocate, adopt, read, compile, instantiate, execute };

/// The way in which an operation fails.
struct Fault {
  ErrorKind kind = ErrorKind::out_of_memory;
  bool permanent = false;  ///< every later call fails as well
  bool inherent = false;   ///< of execute: the graph always fails
  bool throws = false;     ///< as an exception, which a backend must not let out
  /// Not before this latch opens, as for a kernel that takes long.
  std::shared_ptr<std::latch> until = nullptr;
};

/// Says which calls fail. Thread-safe; a test shares it with the backends that it made.
class FaultPlan {
 public:
  /// The `nth` call from now (1 is the next) of `point` fails.
  void fail(FaultPoint point, std::uint64_t nth, Fault fault);
  /// From now on, each call of `point` fails once in `one_in` times, with a transient fault.
  void fail_randomly(FaultPoint point, std::uint64_t seed, std::uint64_t one_in, Fault fault);
  void clear();
  /// Called by the backend: the fault of this call, if it fails.
  std::optional<Fault> next(FaultPoint point);
  /// Called by the backend: the team with which it makes an instance.
  void note(const std::shared_ptr<kernels::Team>& team);
  std::uint64_t injected() const;
  /// How often `point` was called, since the plan was made or cleared.
  std::uint64_t calls(FaultPoint point) const;
  /// The threads that have called `point` since then, and the one that did last.
  std::set<std::thread::id> threads(FaultPoint point) const;
  std::thread::id last_thread(FaultPoint point) const;
  /// The team of the last instance, while its lane lives; null for a single thread.
  std::shared_ptr<kernels::Team> last_team() const;

 private:
  struct Schedule {
    std::uint64_t calls = 0;
    std::set<std::thread::id> threads;
    std::thread::id last_thread;
    std::map<std::uint64_t, Fault> at;
    std::optional<Fault> always;
    std::uint64_t one_in = 0;
    Fault random_fault;
    std::mt19937_64 random;
  };
  mutable std::mutex mutex_;
  std::map<FaultPoint, Schedule> schedules_;
  std::uint64_t injected_ = 0;
  std::weak_ptr<kernels::Team> last_team_;
};

class FaultBackend : public kernels::ForwardingBackend {
 public:
  FaultBackend(std::shared_ptr<kernels::Backend> inner, std::shared_ptr<FaultPlan> faults)
      : ForwardingBackend(std::move(inner)), faults_(std::move(faults)) {}

  std::string name() const override { return "faulty " + inner().name(); }
  Result<std::unique_ptr<kernels::Storage>> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<kernels::Storage>> adopt(Buffer&& bytes) override;
  Result<void> read(const kernels::Storage& storage, std::span<std::byte> bytes) override;
  Result<std::shared_ptr<kernels::Plan>> compile(std::shared_ptr<const ops::Graph> graph) override;
  Result<std::unique_ptr<kernels::PlanInstance>> instantiate(
      std::shared_ptr<const kernels::Plan> plan, const kernels::InstanceOptions& options) override;
  kernels::ExecuteStatus execute(kernels::PlanInstance& plan,
                                 std::span<kernels::Storage* const> inputs,
                                 std::span<kernels::Storage* const> outputs) override;
  kernels::ExecuteStatus profile(kernels::PlanInstance& plan,
                                 std::span<kernels::Storage* const> inputs,
                                 std::span<kernels::Storage* const> outputs,
                                 std::span<double> seconds) override;
  /// The fault is in the end.
  kernels::ExecuteStatus finish(kernels::PlanInstance& plan) override;

 private:
  /// The error of a fault that is due at `point`, if any.
  std::optional<Error> strike(FaultPoint point, bool* inherent = nullptr);

  std::shared_ptr<FaultPlan> faults_;
};

}  // namespace polychron::stress
