// A tensor's memory: on the device, and on the host if somebody there has its bytes.
#pragma once

#include <mutex>

#include "kernels/backend.hpp"
#include "kernels/gpu/device.hpp"

namespace polychron::kernels::gpu {

/// Storage of a tensor on the device. If it was adopted or mapped, it has memory on the host too,
/// and copies its bytes when the other side needs them. Several lanes may read it at a time, and so
/// move its bytes: these calls lock. A lane that writes it is alone with it.
class GpuStorage final : public Storage {
 public:
  explicit GpuStorage(DeviceMemory&& bytes) : memory_(std::move(bytes)) {}
  std::size_t bytes() const noexcept override { return memory_.bytes(); }
  /// Takes the host's bytes.
  void adopt(Buffer&& bytes) noexcept;
  /// The host's memory, with the bytes. The caller may change them.
  Buffer& on_host(cl_command_queue queue);
  /// Copies the bytes to the device, unless it has them.
  void to_device(cl_command_queue queue);
  /// Replaces all bytes.
  void write(cl_command_queue queue, std::span<const std::byte> bytes);
  /// A plan has written the device's memory. Adopted memory gets the bytes at once, because
  /// surrender() has to give it back even if the device fails by then.
  void computed(cl_command_queue queue);
  DeviceMemory& memory() noexcept { return memory_; }
  void read(cl_command_queue queue, std::span<std::byte> bytes) const;

 private:
  enum class Where : std::uint8_t { device, host, both };
  DeviceMemory memory_;
  Buffer home_;
  bool is_adopted_ = false;
  mutable std::mutex mutex_;
  Where where_ = Where::device;
};

}  // namespace polychron::kernels::gpu
