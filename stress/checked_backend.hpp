// A backend that looks at what the lanes do with storage, and lets others come between. Wraps any
// other backend.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernels/backend.hpp"

namespace polychron::stress {

/// What was seen, and who may come between. Used by one thread.
struct Checks {
  /// Called where a kernel or a copy would take its time.
  std::function<void()> between;
  bool ended = false;  ///< nothing may begin any more
  /// The first thing that was wrong: storage that is used by two at once, or after it was freed, a
  /// plan that runs again where it cannot succeed.
  std::optional<std::string> broken;
  std::uint64_t bytes = 0;  ///< of storage that is there now
  /// Of what was allocated, not adopted: what a compute is lent is its caller's, and not counted.
  std::uint64_t allocated = 0, peak_allocated = 0;
  std::uint64_t planned = 0;  ///< bytes of the plans' constants and of instances' arenas
};

class CheckedBackend final : public kernels::Backend {
 public:
  CheckedBackend(std::shared_ptr<kernels::Backend> inner, std::shared_ptr<Checks> checks)
      : inner_(std::move(inner)), checks_(std::move(checks)) {}

  std::string name() const override { return "checked " + inner_->name(); }
  Result<std::unique_ptr<kernels::Storage>> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<kernels::Storage>> adopt(Buffer&& bytes) override;
  Result<std::span<std::byte>> map(kernels::Storage& storage) override;
  Result<Buffer> surrender(std::unique_ptr<kernels::Storage> storage) override;
  Result<void> write(kernels::Storage& storage, std::span<const std::byte> bytes) override;
  Result<void> read(const kernels::Storage& storage, std::span<std::byte> bytes) override;
  Result<std::shared_ptr<kernels::Plan>> compile(std::shared_ptr<const ops::Graph> graph) override;
  Result<std::unique_ptr<kernels::PlanInstance>> instantiate(
      std::shared_ptr<const kernels::Plan> plan, std::shared_ptr<kernels::Team> team) override;
  kernels::ExecuteStatus execute(kernels::PlanInstance& plan,
                                 std::span<kernels::Storage* const> inputs,
                                 std::span<kernels::Storage* const> outputs) override;

 private:
  Result<std::unique_ptr<kernels::Storage>> watched(
      Result<std::unique_ptr<kernels::Storage>> storage, bool adopted) const;
  std::shared_ptr<kernels::Backend> inner_;
  std::shared_ptr<Checks> checks_;
};

}  // namespace polychron::stress
