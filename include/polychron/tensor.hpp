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
  Tensor() = default;
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  DataType data_type() const;
  const Shape& shape() const;
  const OperandDescriptor& descriptor() const;
  std::uint64_t byte_length() const;
  bool readable() const;
  bool writable() const;
  /// Made by create_constant_tensor().
  bool constant() const;
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

  friend bool operator==(const Tensor&, const Tensor&) = default;

 private:
  friend struct detail::TensorHandle;
  explicit Tensor(std::shared_ptr<detail::TensorHandle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<detail::TensorHandle> handle_;
};

}  // namespace polychron
