// A backend that checks how the lanes use storage, and lets other steps run in between. Wraps any
// other backend.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "kernels/backend.hpp"

namespace polychron::stress {

/// Results of the checks, and the hook that lets other steps run. Used by one thread.
struct Checks {
  /// Called where a kernel or a copy would take its time.
  std::function<void()> between;
  bool ended = false;  ///< nothing may begin from now on
  /// The first error: two operations used a storage at once, a storage was used after it was freed,
  /// or a plan ran again although it cannot succeed.
  std::optional<std::string> broken;
  std::uint64_t bytes = 0;  ///< of all storage that is there now
  /// Bytes that were allocated, without adopted ones: a compute's lent buffers belong to its
  /// caller.
  std::uint64_t allocated = 0, peak_allocated = 0;
  std::uint64_t planned = 0;  ///< bytes of the plans' constants and of instances' own arenas
  /// Of lanes.
  std::map<const kernels::LaneArena*, std::weak_ptr<const kernels::LaneArena>> shared_arenas;
  /// Bytes of plans and of all arenas.
  std::uint64_t planned_bytes() const {
    auto sum = planned;
    for (const auto& [place, arena] : shared_arenas)
      if (const auto there = arena.lock()) sum += there->bytes.size();
    return sum;
  }
};

class CheckedBackend final : public kernels::ForwardingBackend {
 public:
  CheckedBackend(std::shared_ptr<kernels::Backend> inner, std::shared_ptr<Checks> checks)
      : ForwardingBackend(std::move(inner)), checks_(std::move(checks)) {}

  std::string name() const override { return "checked " + inner().name(); }
  Result<std::unique_ptr<kernels::Storage>> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<kernels::Storage>> adopt(Buffer&& bytes) override;
  Result<std::span<std::byte>> map(kernels::Storage& storage) override;
  Result<Buffer> surrender(std::unique_ptr<kernels::Storage> storage) override;
  Result<void> write(kernels::Storage& storage, std::span<const std::byte> bytes) override;
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
  void submit(kernels::PlanInstance& plan, std::span<kernels::Storage* const> inputs,
              std::span<kernels::Storage* const> outputs,
              std::shared_ptr<kernels::Completion> done) noexcept override;
  kernels::ExecuteStatus finish(kernels::PlanInstance& plan) override;

 private:
  template <class F>
  Result<std::unique_ptr<kernels::Storage>> watched(F make, bool adopted) const;
  std::shared_ptr<Checks> checks_;
};

}  // namespace polychron::stress
