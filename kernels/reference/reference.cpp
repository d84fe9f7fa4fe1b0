#include "kernels/reference/reference.hpp"

#include <algorithm>
#include <string>

namespace polychron::kernels::reference {
namespace {

/// A function with its problem, and where its operands are among the step's arguments.
struct Stage {
  Function function;
  Problem problem;
  std::uint32_t operand = PostOp::no_operand;  ///< of a post-operation
};

/// A post-operation as a problem of its own, that works on the result in place.
Problem post_problem(const Problem& problem, const PostOp& post_op) {
  Problem stage;
  stage.op = post_op.op;
  stage.attributes = post_op.attributes;
  stage.label = problem.label;
  stage.inputs = {problem.outputs[0]};
  if (post_op.operand != PostOp::no_operand)
    stage.inputs.push_back(problem.inputs[post_op.operand]);
  stage.outputs = {problem.outputs[0]};
  stage.own_inputs = stage.inputs.size();
  return stage;
}

class ReferenceBound final : public Bound {
 public:
  ReferenceBound(const std::vector<Stage>& stages, const Arguments& arguments)
      : stages_(stages), arguments_(arguments) {}

  void run() override {
    const Stage& first = stages_.front();
    first.function({first.problem, arguments_.inputs, arguments_.outputs});
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      const bool binary = stage.operand != PostOp::no_operand;
      const std::array<const std::byte*, 2> inputs{
          arguments_.outputs[0], binary ? arguments_.inputs[stage.operand] : nullptr};
      stage.function({stage.problem, {inputs.data(), binary ? 2U : 1U}, arguments_.outputs});
    }
  }

 private:
  const std::vector<Stage>& stages_;
  const Arguments& arguments_;
};

class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(std::vector<Stage> stages) : stages_(std::move(stages)) {}
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<ReferenceBound>(stages_, arguments);
  }

 private:
  std::vector<Stage> stages_;
};

}  // namespace

Function find(ops::OpId op) noexcept {
  for (const auto entries :
       {unary_entries(), binary_entries(), reduce_entries(), convolution_entries(),
        matrix_entries(), pool_entries(), normalization_entries(), movement_entries()}) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [op](const Entry& entry) { return entry.op == op; });
    if (found != entries.end()) return found->function;
  }
  return nullptr;
}

KernelResult prepare(const Problem& problem) {
  const auto plain = [](const Slot& slot) {
    return slot.layout == Layout::plain && slot.order.empty();
  };
  if (!std::all_of(problem.inputs.begin(), problem.inputs.end(), plain) ||
      !std::all_of(problem.outputs.begin(), problem.outputs.end(), plain))
    return refuse("plain layouts only");
  std::vector<Stage> stages;
  stages.push_back({find(problem.op), problem});
  for (const PostOp& post_op : problem.post_ops)
    stages.push_back({find(post_op.op), post_problem(problem, post_op), post_op.operand});
  for (Stage& stage : stages) {
    if (stage.function == nullptr)
      return refuse("no reference for '" + std::string(operator_name(stage.problem.op)) + "'");
    for (Slot& slot : stage.problem.inputs) slot.constant.reset();  // the plan owns the bytes
  }
  return KernelResult(std::make_unique<ReferenceKernel>(std::move(stages)));
}

}  // namespace polychron::kernels::reference
