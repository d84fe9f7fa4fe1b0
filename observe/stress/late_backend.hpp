// A backend whose device works by itself: it finishes a submitted execution when it is told to.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "kernels/backend.hpp"

namespace polychron::stress {

/// Computes by another backend, at the moment when the device finishes. Used by one thread.
class LateBackend final : public kernels::ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;
  bool submits() const noexcept override { return true; }
  void submit(kernels::PlanInstance& plan, std::span<kernels::Storage* const> inputs,
              std::span<kernels::Storage* const> outputs,
              std::shared_ptr<kernels::Completion> done) noexcept override;
  kernels::ExecuteStatus finish(kernels::PlanInstance& plan) override;

  /// The number of executions that the device is at.
  std::size_t at_work() const;
  /// The device finishes the `nth` of them.
  void complete(std::size_t nth);

 private:
  struct Execution {
    kernels::PlanInstance* plan = nullptr;
    std::vector<kernels::Storage*> inputs, outputs;
    std::shared_ptr<kernels::Completion> done;  ///< null once notified
    kernels::ExecuteStatus status;
  };
  void compute(Execution& execution);
  std::list<Execution> executions_;
};

}  // namespace polychron::stress
