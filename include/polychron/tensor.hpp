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
/// destroys it. Thread-safe. A default-constructed handle refers to nothing and is refused by every
/// call.
class Tensor {
 public:
  /// A handle to nothing, which every call refuses (type_error).
  Tensor() = default;
  /// False for a handle to nothing: default-constructed or moved away.
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  // Properties are constant for life, also after destroy(). Of a handle to nothing: type_error.
  /// descriptor().data_type
  DataType data_type() const;
  /// descriptor().shape
  const Shape& shape() const;
  /// As it was created. Valid as long as the handle.
  const OperandDescriptor& descriptor() const;
  /// Bytes of its elements: what is written and read.
  std::uint64_t byte_length() const;
  /// TensorDescriptor::readable; false for a constant tensor.
  bool readable() const;
  /// TensorDescriptor::writable; false for a constant tensor.
  bool writable() const;
  /// Made by create_constant_tensor().
  bool constant() const;
  /// TensorDescriptor::label.
  const std::string& label() const;
  /// Unique in its context; appears in messages about tensors without a label.
  std::uint64_t id() const;

  /// The tensor's error after everything called before, or nullopt if it is readable as data.
  /// Never waits for admission: with max_in_flight such questions pending it rejects with
  /// quota_exceeded. Rejects with invalid_state if the tensor was destroyed, or is meanwhile; on
  /// lease in LeaseMode::fail.
  Future<std::optional<Error>> error() const;

  /// Rejects pending reads at once with invalid_state and refuses new work; memory is returned
  /// after everything that was called before. Idempotent.
  void destroy();

  /// True for handles to the same tensor, and for two to nothing.
  friend bool operator==(const Tensor&, const Tensor&) = default;

 private:
  friend struct detail::TensorHandle;
  explicit Tensor(std::shared_ptr<detail::TensorHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::TensorHandle> handle_;
};

}  // namespace polychron
