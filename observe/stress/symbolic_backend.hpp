// A backend without kernels: a tensor is one 64-bit value, and symbolic_result() gives a graph's
// outputs from its label.
#pragma once

#include "kernels/backend.hpp"
#include "observe/stress/symbolic_graph.hpp"

namespace polychron::stress {

/// Tensors must have at least 8 bytes; the first 8 are the value. A graph's label identifies it.
class SymbolicBackend : public kernels::Backend {
 public:
  /// Every plan's constants take `plan_bytes`, and so does every instance's arena.
  explicit SymbolicBackend(std::size_t plan_bytes = 0) : plan_bytes_(plan_bytes) {}
  std::string name() const override { return "symbolic"; }
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

 private:
  const std::size_t plan_bytes_;
};

}  // namespace polychron::stress
