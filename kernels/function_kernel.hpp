// Kernels that are a function of their arguments.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels {

/// A kernel that is a function of its arguments, F(const Arguments&), without state of its own.
template <class F>
class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(F function) : function_(std::move(function)) {}
  std::unique_ptr<Bound> bind(const Arguments& arguments) const override {
    return std::make_unique<FunctionBound>(function_, arguments);
  }

 private:
  class FunctionBound final : public Bound {
   public:
    FunctionBound(const F& function, const Arguments& arguments)
        : function_(function), arguments_(arguments) {}
    void run() override { function_(arguments_); }

   private:
    const F& function_;
    const Arguments& arguments_;
  };
  F function_;
};

template <class F>
KernelResult make_kernel(F function) {
  return KernelResult(std::make_unique<FunctionKernel<F>>(std::move(function)));
}

}  // namespace polychron::kernels
