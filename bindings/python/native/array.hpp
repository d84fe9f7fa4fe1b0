// Arrays: memory of Python's objects in, numpy arrays out.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "process.hpp"

namespace binding {

/// The memory of an object with the buffer protocol. It must be contiguous, in row-major order and
/// of this machine's byte order: else the constructor throws Unusual. Needs the GIL.
class View {
 public:
  explicit View(nb::handle object);
  ~View();
  View(View&&) noexcept = default;
  View& operator=(View&&) = delete;

  /// Empty for types that WebNN does not have. bool counts as uint8.
  std::optional<polychron::DataType> data_type() const noexcept { return type_; }
  polychron::Shape shape() const;
  /// "float64 [2, 3]"
  std::string text() const;
  std::span<const std::byte> bytes() const noexcept;
  /// Throws type_error unless it has that type, and that shape or one dimension.
  void check(const polychron::OperandDescriptor& expected, const std::string& what) const;

  /// A copy of the bytes.
  polychron::Buffer copied() const;
  /// The bytes without a copy, if they are aligned. The object lives until the library lets go.
  polychron::Buffer lent() &&;

 private:
  std::unique_ptr<Py_buffer> view_;
  std::optional<polychron::DataType> type_;
  std::string name_;
};

/// A numpy array over `bytes`, which it owns. `flags`: of bool instead of uint8. The elements of a
/// type with two in a byte stay packed.
nb::object array_of(polychron::Buffer bytes, const polychron::OperandDescriptor& descriptor,
                    bool flags = false);

/// A Python object over bytes of the library, with the buffer protocol.
class Memory {
 public:
  explicit Memory(polychron::Buffer own) : own_(std::move(own)), bytes_(own_.bytes()) {}
  explicit Memory(polychron::TensorLease lease)
      : lease_(std::move(lease)), bytes_(lease_.bytes()) {}
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  bool revoked() const { return lease_.revoked(); }
  void take() noexcept { ++users_; }
  void drop() noexcept { --users_; }
  /// Returns the lease. False while a memoryview or an array uses the bytes.
  bool release();

 private:
  polychron::Buffer own_;
  polychron::TensorLease lease_;
  std::span<std::byte> bytes_;
  std::size_t users_ = 0;
};

void bind_arrays(nb::module_& module);

}  // namespace binding
