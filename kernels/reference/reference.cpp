#include "kernels/reference/reference.hpp"

#include <algorithm>
#include <string>

#include "base/invariant.hpp"

namespace polychron::kernels::reference {
namespace {

/// An operator with its problem, and the numbers of its further operands in the step's arguments.
struct Stage {
  const Entry* entry;
  Problem problem;
  std::vector<std::uint32_t> operands;  ///< of a post-operation

  std::size_t scratch_bytes() const {
    return entry->scratch == nullptr ? 0 : entry->scratch(problem);
  }
};

/// A post-operation as a problem of its own, which works on the result in place.
Problem post_problem(const Problem& problem, const PostOp& post_op) {
  Problem stage;
  stage.op = post_op.op;
  stage.attributes = post_op.attributes;
  stage.label = problem.label;
  stage.inputs = {problem.outputs[0]};
  for (const std::uint32_t operand : post_op.operands)
    stage.inputs.push_back(problem.inputs[operand]);
  stage.outputs = {problem.outputs[0]};
  stage.own_inputs = stage.inputs.size();
  return stage;
}

class ReferenceBound final : public Bound {
 public:
  ReferenceBound(const std::vector<Stage>& stages, const Arguments& arguments)
      : stages_(stages), arguments_(arguments), inputs_(stages.size()) {
    for (std::size_t i = 1; i < stages.size(); ++i)
      inputs_[i].resize(1 + stages[i].operands.size());
    rebind();
  }

  void rebind() override {
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      inputs_[i][0] = arguments_.outputs[0];
      for (std::size_t k = 0; k < stages_[i].operands.size(); ++k)
        inputs_[i][1 + k] = arguments_.inputs[stages_[i].operands[k]];
    }
  }

  void run() override {
    const auto call = [&](const Stage& stage, std::span<const std::byte* const> inputs) {
      stage.entry->function({stage.problem, inputs, arguments_.outputs, arguments_.scratch});
    };
    call(stages_.front(), arguments_.inputs);
    for (std::size_t i = 1; i < stages_.size(); ++i) call(stages_[i], inputs_[i]);
  }

 private:
  const std::vector<Stage>& stages_;
  const Arguments& arguments_;
  std::vector<std::vector<const std::byte*>> inputs_;  ///< for each stage except the first
};

class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(std::vector<Stage> stages) : stages_(std::move(stages)) {
    for (const Stage& stage : stages_) scratch_ = std::max(scratch_, stage.scratch_bytes());
  }
  std::size_t scratch_bytes() const noexcept override { return scratch_; }
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    const Problem& problem = stages_.front().problem;
    ensure(arguments.inputs.size() == problem.inputs.size() &&
               arguments.outputs.size() == problem.outputs.size(),
           "a kernel is bound to as many arguments as its problem has");
    return std::make_unique<ReferenceBound>(stages_, arguments);
  }

 private:
  std::vector<Stage> stages_;
  std::size_t scratch_ = 0;
};

}  // namespace

const Entry* find(ops::OpId op) noexcept {
  for (const auto entries :
       {elementwise_entries(), activation_entries(), matrix_entries(), convolution_entries(),
        pooling_entries(), resampling_entries(), normalization_entries(), reduction_entries(),
        movement_entries(), indexing_entries(), quantization_entries(), recurrent_entries()})
    for (const Entry& entry : entries)
      if (entry.op == op) return &entry;
  return nullptr;
}

void copy(const Call& call) {
  std::copy_n(call.inputs[0], *byte_length(call.problem.outputs[0].descriptor), call.outputs[0]);
}

KernelResult prepare(const Problem& problem) {
  const Entry* entry = find(problem.op);
  if (entry == nullptr)
    return refuse("no reference for '" + std::string(operator_name(problem.op)) + "'");
  return prepare_with(*entry, problem);
}

KernelResult prepare_with(const Entry& entry, const Problem& problem) {
  const auto plain = [](const Slot& slot) { return slot.lies_plain(); };
  if (!std::all_of(problem.inputs.begin(), problem.inputs.end(), plain) ||
      !std::all_of(problem.outputs.begin(), problem.outputs.end(), plain))
    return refuse("plain layouts only");
  std::vector<Stage> stages;
  stages.push_back({&entry, problem, {}});
  for (const PostOp& post_op : problem.post_ops) {
    const Entry* after = find(post_op.op);
    if (after == nullptr)
      return refuse("no reference for '" + std::string(operator_name(post_op.op)) + "'");
    stages.push_back({after, post_problem(problem, post_op), post_op.operands});
  }
  for (Stage& stage : stages)
    for (Slot& slot : stage.problem.inputs) slot.constant.reset();  // the plan owns the bytes
  return KernelResult(std::make_unique<ReferenceKernel>(std::move(stages)));
}

}  // namespace polychron::kernels::reference
