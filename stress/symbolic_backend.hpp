// A backend without numbers: a tensor is one 64-bit value, and a graph mixes its inputs' values
// into its outputs'. Two runs gave the same values exactly if every operation saw the same
// operands.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/backend.hpp"
#include "ops/graph.hpp"

namespace polychron::stress {

/// What output `output` of the graph labelled `graph` is, given its inputs; the oracle's rule too.
std::uint64_t symbolic_result(std::string_view graph, std::size_t output,
                              std::span<const std::uint64_t> inputs);

/// A graph that only its label and its number of inputs ("in0", "in1", ...; output "out") describe,
/// on tensors like `value_descriptor`: enough for the symbolic backend.
std::shared_ptr<const ops::Graph> symbolic_graph(const std::string& label, std::size_t inputs);
inline const TensorDescriptor value_descriptor{{DataType::uint64, {1}}, true, true, {}};

/// Tensors must have at least 8 bytes; the first 8 are the value. A graph is known by its label.
class SymbolicBackend : public kernels::Backend {
 public:
  /// Of `plan_bytes` are every plan's constants, and every instance's arena.
  explicit SymbolicBackend(std::size_t plan_bytes = 0) : plan_bytes_(plan_bytes) {}
  std::string name() const override { return "symbolic"; }
  Result<std::unique_ptr<kernels::Storage>> allocate(std::size_t bytes) override;
  Result<std::unique_ptr<kernels::Storage>> adopt(Buffer&& bytes) override;
  Result<std::span<std::byte>> map(kernels::Storage& storage) override;
  Result<Buffer> surrender(std::unique_ptr<kernels::Storage> storage) override;
  Result<void> write(kernels::Storage& storage, std::span<const std::byte> bytes) override;
  Result<void> read(const kernels::Storage& storage, std::span<std::byte> bytes) override;
  Result<std::shared_ptr<kernels::Plan>> compile(std::shared_ptr<const ops::Graph> graph,
                                                 const kernels::CompileOptions& options) override;
  Result<std::unique_ptr<kernels::PlanInstance>> instantiate(
      std::shared_ptr<const kernels::Plan> plan) override;
  kernels::ExecuteStatus execute(kernels::PlanInstance& plan,
                                 std::span<kernels::Storage* const> inputs,
                                 std::span<kernels::Storage* const> outputs) override;

 private:
  const std::size_t plan_bytes_;
};

}  // namespace polychron::stress
