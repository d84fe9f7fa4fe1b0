// Tensors (WebNN: MLTensor).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "polychron/descriptor.hpp"
#include "polychron/future.hpp"

namespace polychron {

namespace detail {
struct TensorHandle;
}

/// Handle to a tensor of a context. Copies are handles to the same tensor; dropping the last one
/// destroys it. Thread-safe. A default-constructed handle refers to nothing: every call refuses it
/// (type_error).
class Tensor {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Tensor() = default;
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // Properties never change, even after destroy(). A handle to nothing throws type_error.
  /// descriptor().data_type
  DataType data_type() const;
  /// descriptor().shape
  const Shape& shape() const;
  /// The descriptor that it was created with. The reference is valid as long as the handle.
  const OperandDescriptor& descriptor() const;
  /// The size of its contents in bytes.
  std::uint64_t byte_length() const;
  /// TensorDescriptor::readable; false for a constant tensor.
  bool readable() const;
  /// TensorDescriptor::writable; false for a constant tensor.
  bool writable() const;
  /// True if create_constant_tensor() made it.
  bool constant() const;
  /// TensorDescriptor::label.
  const std::string& label() const;
  /// A number, unique in its context; messages show it if the tensor has no label.
  std::uint64_t id() const;

  /// The tensor's error after all earlier calls, or nullopt if its contents are good. Never waits
  /// for admission: rejects with quota_exceeded if max_in_flight such calls are pending. Rejects
  /// with invalid_state if the tensor was destroyed, is destroyed meanwhile, or is on lease in
  /// LeaseMode::fail.
  Future<std::optional<Error>> error() const;

  /// Rejects pending reads at once with invalid_state, and refuses new work. The memory is freed
  /// after all earlier calls. Idempotent.
  void destroy();

  /// True for two handles to the same tensor, and for two handles to nothing.
  friend bool operator==(const Tensor&, const Tensor&) = default;

 private:
  friend struct detail::TensorHandle;
  explicit Tensor(std::shared_ptr<detail::TensorHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::TensorHandle> handle_;
};

}  // namespace polychron
