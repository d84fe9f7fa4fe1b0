#include "onnx/spare_outputs.hpp"

#include <new>
#include <utility>

namespace polychron::onnx::detail {

Buffer SpareBuffers::take(std::size_t output, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    auto& kept = kept_[output];
    if (!kept.empty()) {
      auto buffer = std::move(kept.back());
      kept.pop_back();
      return buffer;
    }
  }
  return Buffer::uninitialized(bytes);
}

void SpareBuffers::keep(std::size_t output, Buffer&& buffer) noexcept try {
  const std::lock_guard lock(mutex_);
  auto& kept = kept_[output];
  if (kept.size() < max_ && !buffer.detached()) kept.push_back(std::move(buffer));
} catch (const std::bad_alloc&) {
  // No memory to keep it: it is freed, and the next run allocates another.
}

std::size_t SpareBuffers::count() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& kept : kept_) count += kept.size();
  return count;
}

polychron::Tensor SpareTensors::next(Context context, std::size_t output,
                                     const TensorDescriptor& descriptor) {
  const std::lock_guard lock(mutex_);
  auto& turns = turns_[output];
  if (turns.tensors.size() < max_) {
    turns.tensors.push_back(context.create_tensor(descriptor).get());
    return turns.tensors.back();
  }
  if (max_ == 0) return context.create_tensor(descriptor).get();
  return turns.tensors[turns.next++ % turns.tensors.size()];
}

}  // namespace polychron::onnx::detail
