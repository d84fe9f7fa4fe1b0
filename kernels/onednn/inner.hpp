// Kernels within a kernel, and the scratch memory that they share with their owner.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/kernel.hpp"

namespace polychron::kernels::onednn {

/// A kernel bound to memory that its owner provides. It must not move after bind().
struct Inner {
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  Arguments arguments;
  std::unique_ptr<Bound> bound;

  void bind(const Kernel& kernel, std::byte* scratch) {
    arguments = {inputs, outputs, scratch};
    bound = kernel.bind(arguments);
  }
  void rebind(std::byte* scratch) {
    arguments.scratch = scratch;
    bound->rebind();
  }
};

/// Divides scratch memory: returns offsets in bytes, aligned as the whole is.
class ScratchPlan {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t place = size_;
    size_ += (bytes + 63) / 64 * 64;
    return place;
  }
  std::size_t take_floats(std::size_t count) { return take(count * sizeof(float)); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

}  // namespace polychron::kernels::onednn
