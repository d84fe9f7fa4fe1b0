// The CPU backend's plan: a flat list of prepared steps and the places of their operands.
//
// Lanes share a plan, which is immutable. PlanLane has the steps bound to one lane's arena.
// Executing a lane allocates nothing and decides nothing: it sets the tensors' addresses and runs
// the steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/kernel.hpp"
#include "polychron/buffer.hpp"

namespace polychron::kernels {

/// The place of an operand.
struct Location {
  enum class Kind : std::uint8_t { none, arena, constant, input, output };
  Kind kind = Kind::none;
  std::size_t index = 0;   ///< offset in the arena, or number of the constant, input or output
  std::size_t offset = 0;  ///< where a view begins, in bytes
};

struct Step {
  std::unique_ptr<Kernel> kernel;
  std::string label;  ///< of the operator, for errors
  std::string text;   ///< for describe()
  std::vector<Location> inputs;
  std::vector<Location> outputs;
  std::size_t scratch = 0;  ///< offset in the arena
};

class CpuPlan final : public Plan {
 public:
  std::size_t arena_bytes() const noexcept override { return arena; }
  bool shares_arena() const noexcept override { return true; }
  std::span<const ops::ConstantBytes> constants() const noexcept override { return held; }
  std::vector<std::string> describe() const override;
  std::vector<std::string> labels() const override;

  std::vector<Step> steps;
  Constants operands;  ///< constants that steps read unchanged
  Constants held;      ///< these and the kernels' transformed constants, each once
  std::size_t arena = 0;
  std::size_t input_count = 0;
  std::size_t output_count = 0;
};

/// The kernel of the first implementation that takes `problem`. `text` describes it. Throws Error
/// (not_supported) with all refusals.
std::unique_ptr<Kernel> prepare_kernel(const Problem& problem, std::string& text,
                                       bool reference_only = false);

/// Turns a graph into a plan: passes, kernels, memory. As soon as a kernel has a constant in its
/// own form, the compiler frees the original unless someone else holds it. Memory therefore never
/// holds all constants twice.
Result<std::shared_ptr<Plan>> compile_plan(std::shared_ptr<const ops::Graph> graph,
                                           const PlanSettings& settings);

class PlanLane final : public PlanInstance {
 public:
  PlanLane(std::shared_ptr<const CpuPlan> plan, const InstanceOptions& options);
  const CpuPlan& plan() const noexcept { return *plan_; }
  /// `inputs` and `outputs` are HostStorage, in the graph's order. `seconds` is empty, or has one
  /// entry for each step.
  ExecuteStatus execute(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
                        std::span<double> seconds = {});

 private:
  struct BoundStep {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    Arguments arguments;
    std::unique_ptr<Bound> bound;
    std::size_t parts = 1;
  };
  /// An operand of a step that is a graph input or output.
  struct Port {
    std::size_t step;
    std::size_t operand;
    bool is_output_operand;
    std::size_t tensor;  ///< an input's number, or the number of inputs plus an output's
    std::size_t offset;  ///< from the tensor's address
  };

  void run_step(std::size_t index);
  void run_steps(const Step*& step);
  void time_steps(const Step*& step, std::span<double> seconds);
  void bind_step(std::size_t index);
  std::byte* in_arena(const Location& at) const;
  /// Follows an arena that was moved.
  void follow_arena();
  void set_tensor(std::size_t tensor, std::byte* address);

  std::shared_ptr<const CpuPlan> plan_;
  std::shared_ptr<Team> team_;
  std::shared_ptr<LaneArena> arena_;
  std::byte* base_;  ///< where the arena was when the steps were bound to it
  std::vector<BoundStep> steps_;
  std::vector<Port> ports_;          ///< ordered by tensor
  std::vector<std::byte*> tensors_;  ///< addresses of the last execution
};

}  // namespace polychron::kernels
