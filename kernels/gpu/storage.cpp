#include "kernels/gpu/storage.hpp"

#include <cstring>

namespace polychron::kernels::gpu {

void GpuStorage::adopt(Buffer&& bytes) noexcept {
  home_ = std::move(bytes);
  is_adopted_ = true;
  where_ = Where::host;
}

Buffer& GpuStorage::on_host(cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  if (where_ == Where::device) {
    if (home_.size() != bytes()) home_ = Buffer::uninitialized(bytes());
    memory_.read(queue, home_.bytes());
  }
  where_ = Where::host;
  return home_;
}

void GpuStorage::to_device(cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  if (where_ != Where::host) return;
  memory_.write(queue, home_.bytes());
  where_ = Where::both;
}

void GpuStorage::write(cl_command_queue queue, std::span<const std::byte> bytes) {
  memory_.write(queue, bytes);
  where_ = Where::device;
}

void GpuStorage::computed(cl_command_queue queue) {
  if (is_adopted_) memory_.read(queue, home_.bytes());
  where_ = is_adopted_ ? Where::both : Where::device;
}

void GpuStorage::read(cl_command_queue queue, std::span<std::byte> bytes) const {
  const std::lock_guard lock(mutex_);
  if (where_ == Where::device) return memory_.read(queue, bytes);
  if (!bytes.empty()) std::memcpy(bytes.data(), home_.data(), bytes.size());
}

}  // namespace polychron::kernels::gpu
