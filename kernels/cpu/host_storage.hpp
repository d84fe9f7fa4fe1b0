// Tensor memory of the CPU backend: host memory, which kernels use in place.
#pragma once

#include "kernels/backend.hpp"

namespace polychron::kernels {

class HostStorage final : public Storage {
 public:
  explicit HostStorage(Buffer buffer) : buffer_(std::move(buffer)) {}
  std::size_t bytes() const noexcept override { return buffer_.size(); }
  std::byte* data() { return buffer_.data(); }
  const std::byte* data() const { return buffer_.data(); }
  /// Gives the memory back to the owner of the tensor.
  Buffer take() && { return std::move(buffer_); }

 private:
  Buffer buffer_;
};

/// The bytes of a Storage that the CPU backend made.
inline std::byte* host_data(Storage& storage) { return static_cast<HostStorage&>(storage).data(); }

}  // namespace polychron::kernels
