// Kernels that are a function of their arguments.
#pragma once

#include "kernels/kernel.hpp"

namespace polychron::kernels {

/// The `in_place` of kernels that must not overwrite any input.
inline constexpr std::size_t no_input = ~std::size_t{0};

/// A stateless kernel: a function F(const Arguments&). It may overwrite input `in_place` and gets
/// `scratch` bytes of scratch memory.
template <class F>
class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(F function, std::size_t in_place = no_input, std::size_t scratch = 0)
      : function_(std::move(function)), in_place_(in_place), scratch_(scratch) {}
  std::size_t scratch_bytes() const noexcept override { return scratch_; }
  bool in_place(std::size_t index) const noexcept override { return index == in_place_; }
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
  std::size_t in_place_, scratch_;
};

template <class F>
KernelResult make_kernel(F function, std::size_t in_place = no_input, std::size_t scratch = 0) {
  return KernelResult(std::make_unique<FunctionKernel<F>>(std::move(function), in_place, scratch));
}

}  // namespace polychron::kernels
