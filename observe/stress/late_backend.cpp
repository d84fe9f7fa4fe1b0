#include "observe/stress/late_backend.hpp"

#include <algorithm>

#include "base/invariant.hpp"
#include "kernels/guarded.hpp"

namespace polychron::stress {

void LateBackend::submit(kernels::PlanInstance& plan, std::span<kernels::Storage* const> inputs,
                         std::span<kernels::Storage* const> outputs,
                         std::shared_ptr<kernels::Completion> done) noexcept {
  executions_.push_back({&plan,
                         {inputs.begin(), inputs.end()},
                         {outputs.begin(), outputs.end()},
                         std::move(done),
                         {}});
}

std::size_t LateBackend::at_work() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(executions_, [](const Execution& e) { return e.done != nullptr; }));
}

void LateBackend::compute(Execution& execution) {
  execution.status = kernels::guarded_execution(
      [&] { return inner().execute(*execution.plan, execution.inputs, execution.outputs); });
  std::exchange(execution.done, nullptr)->notify();
}

void LateBackend::complete(std::size_t nth) {
  for (auto& execution : executions_) {
    if (!execution.done || nth-- > 0) continue;
    compute(execution);
    return;
  }
}

kernels::ExecuteStatus LateBackend::finish(kernels::PlanInstance& plan) {
  const auto found = std::ranges::find(executions_, &plan, &Execution::plan);
  ensure(found != executions_.end(), "what is finished was submitted");
  if (found->done) compute(*found);
  auto status = std::move(found->status);
  executions_.erase(found);
  return status;
}

}  // namespace polychron::stress
