#include "kernels/cpu/plan.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/invariant.hpp"
#include "kernels/cpu/host_storage.hpp"
#include "kernels/team.hpp"
#include "kernels/threads.hpp"

namespace polychron::kernels {

std::vector<std::string> CpuPlan::describe() const {
  std::vector<std::string> lines;
  for (const Step& step : steps) lines.push_back(step.text);
  return lines;
}

std::vector<std::string> CpuPlan::labels() const {
  std::vector<std::string> labels;
  for (const Step& step : steps) labels.push_back(step.label);
  return labels;
}

PlanLane::PlanLane(std::shared_ptr<const CpuPlan> plan, const InstanceOptions& options)
    : plan_(std::move(plan)),
      team_(options.team),
      arena_(options.arena ? options.arena
                           : std::make_shared<LaneArena>(LaneArena{Buffer(plan_->arena)})),
      base_(arena_->bytes.data()),
      steps_(plan_->steps.size()),
      tensors_(plan_->input_count + plan_->output_count) {
  for (std::size_t i = 0; i < steps_.size(); ++i) bind_step(i);
  // A step with this many bytes of constants of its own evicts anything that was prefetched before
  // it.
  constexpr std::size_t many = 256 * 1024;
  const Bound* next = nullptr;
  for (std::size_t i = steps_.size(); i-- > 0;) {
    Bound& bound = *steps_[i].bound;
    if (next != nullptr) bound.precedes(*next);
    if (!bound.reads_first(0).empty())
      next = &bound;
    else if (plan_->steps[i].kernel->constant_bytes() > many)
      next = nullptr;
  }
  std::stable_sort(ports_.begin(), ports_.end(),
                   [](const Port& a, const Port& b) { return a.tensor < b.tensor; });
}

void PlanLane::bind_step(std::size_t index) {
  const Step& step = plan_->steps[index];
  BoundStep& bound = steps_[index];
  ensure(step.kernel != nullptr, "views are no steps");
  const auto locate = [&](const Location& at, std::size_t operand,
                          bool is_output) -> const std::byte* {
    switch (at.kind) {
      case Location::Kind::none:
        return nullptr;
      case Location::Kind::arena:
        return in_arena(at);
      case Location::Kind::constant:
        return plan_->operands[at.index]->data() + at.offset;
      case Location::Kind::input:
        ports_.push_back({index, operand, is_output, at.index, at.offset});
        break;
      case Location::Kind::output:
        ports_.push_back({index, operand, is_output, plan_->input_count + at.index, at.offset});
        break;
    }
    return nullptr;
  };
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    bound.inputs.push_back(locate(step.inputs[i], i, false));
  for (std::size_t i = 0; i < step.outputs.size(); ++i)
    bound.outputs.push_back(const_cast<std::byte*>(locate(step.outputs[i], i, true)));
  bound.arguments = {bound.inputs, bound.outputs, base_ + step.scratch};
  bound.bound = step.kernel->bind(bound.arguments);
  bound.parts = bound.bound->parts();
}

std::byte* PlanLane::in_arena(const Location& at) const {
  ensure(at.index + at.offset <= plan_->arena, "an operand lies in the arena");
  return base_ + at.index + at.offset;
}

void PlanLane::follow_arena() {
  ensure(arena_->bytes.size() >= plan_->arena, "the lane's arena has room for its plan");
  auto* const now = arena_->bytes.data();
  if (std::exchange(base_, now) == now) return;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = plan_->steps[i];
    BoundStep& bound = steps_[i];
    for (std::size_t k = 0; k < step.inputs.size(); ++k)
      if (step.inputs[k].kind == Location::Kind::arena) bound.inputs[k] = in_arena(step.inputs[k]);
    for (std::size_t k = 0; k < step.outputs.size(); ++k)
      if (step.outputs[k].kind == Location::Kind::arena)
        bound.outputs[k] = in_arena(step.outputs[k]);
    bound.arguments.scratch = base_ + step.scratch;
    bound.bound->rebind();
  }
}

void PlanLane::set_tensor(std::size_t tensor, std::byte* address) {
  if (tensors_[tensor] == address) return;
  tensors_[tensor] = address;
  auto port = std::lower_bound(ports_.begin(), ports_.end(), tensor,
                               [](const Port& a, std::size_t b) { return a.tensor < b; });
  for (; port != ports_.end() && port->tensor == tensor; ++port) {
    BoundStep& step = steps_[port->step];
    if (port->is_output_operand)
      step.outputs[port->operand] = address + port->offset;
    else
      step.inputs[port->operand] = address + port->offset;
    step.bound->rebind();
  }
}

void PlanLane::run_step(std::size_t index) {
  const BoundStep& step = steps_[index];
  if (team_ && step.parts > 1)
    team_->run(*step.bound, step.parts);
  else
    step.bound->run();
}

/// `step` points to the running step, also when it throws.
void PlanLane::run_steps(const Step*& step) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    step = &plan_->steps[i];
    run_step(i);
  }
}

void PlanLane::time_steps(const Step*& step, std::span<double> seconds) {
  ensure(seconds.size() == steps_.size(), "each step has a time");
  auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    step = &plan_->steps[i];
    run_step(i);
    const auto end = std::chrono::steady_clock::now();
    seconds[i] = std::chrono::duration<double>(end - begin).count();
    begin = end;
  }
}

ExecuteStatus PlanLane::execute(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
                                std::span<double> seconds) {
  const Step* step = nullptr;
  try {
    follow_arena();
    for (std::size_t i = 0; i < inputs.size(); ++i) set_tensor(i, host_data(*inputs[i]));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      set_tensor(inputs.size() + i, host_data(*outputs[i]));
    use_one_thread();
    const Team::Execution execution(team_.get());
    if (seconds.empty())
      run_steps(step);
    else
      time_steps(step, seconds);
    return {};
  } catch (const std::bad_alloc&) {
    return {Error(ErrorKind::out_of_memory, "no memory for a kernel")
                .with_operation("operator", step ? step->label : ""),
            false};
  } catch (const Error& error) {
    return {error.with_operation("operator", step ? step->label : ""),
            error.kind() != ErrorKind::out_of_memory};
  } catch (const std::exception& error) {
    return {Error(ErrorKind::operation_error, error.what())
                .with_operation("operator", step ? step->label : ""),
            true};
  }
}

}  // namespace polychron::kernels
