// A block of bytes with exactly one owner: moved or lent, never shared by accident (WebNN issue
// 318).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "polychron/data_type.hpp"
#include "polychron/error.hpp"

namespace polychron {

/// A block of bytes with one owner. Moving it *detaches* the source, as transferring detaches a
/// JavaScript ArrayBuffer. Using a detached Buffer throws Error (type_error); it never yields stale
/// bytes. An empty Buffer (size 0) is not detached. Not thread-safe: one thread at a time.
class Buffer {
 public:
  /// Alignment in bytes of buffers that the library allocates: a cache line, and an AVX-512
  /// register.
  static constexpr std::size_t alignment = 64;

  /// Frees adopted memory. Called once, on the thread that drops the buffer, which may be one of
  /// the library's. It must not throw, and must not wait for the library.
  using Deleter = std::function<void(std::byte*, std::size_t)>;

  /// An empty buffer, attached.
  Buffer() noexcept = default;
  /// `size` zeroed bytes. A large buffer takes no memory until it is touched, page by page. Throws
  /// Error (out_of_memory).
  explicit Buffer(std::size_t size);
  /// `size` bytes of indeterminate content, for a caller that fills them. Throws Error
  /// (out_of_memory).
  static Buffer uninitialized(std::size_t size);
  /// A copy of `bytes`. Throws Error (out_of_memory).
  static Buffer copy_of(std::span<const std::byte> bytes);
  /// A copy of the elements in `values`. Throws Error (out_of_memory).
  template <Elements R>
  static Buffer copy_of(const R& values) {
    return copy_of(std::as_bytes(std::span(values)));
  }
  /// Takes over `size` bytes at `data` without copying. `deleter` frees them; it is not called if
  /// `data` is null. Throws Error (out_of_memory), and then has taken nothing.
  static Buffer adopt(std::byte* data, std::size_t size, Deleter deleter);

  /// Takes the bytes; `other` is detached.
  Buffer(Buffer&& other) noexcept;
  /// Frees its own bytes and takes those of `other`, which is detached.
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  /// True after the bytes have been moved away.
  bool detached() const noexcept { return detached_; }
  /// Bytes in the buffer; 0 when detached.
  std::size_t size() const noexcept { return size_; }
  /// The first byte. Throws Error (type_error) when detached. Deleted for a temporary Buffer, whose
  /// bytes die with it: keep it in a variable, or copy the bytes with to_vector().
  std::byte* data() & { return check(), data_.get(); }
  /// The same, read-only.
  const std::byte* data() const& { return check(), data_.get(); }
  const std::byte* data() const&& = delete;
  /// All the bytes. Throws Error (type_error) when detached.
  std::span<std::byte> bytes() & { return {data(), size_}; }
  /// The same, read-only.
  std::span<const std::byte> bytes() const& { return {data(), size_}; }
  std::span<const std::byte> bytes() const&& = delete;
  /// The bytes as elements. Throws Error (type_error) when detached, when the size is not a
  /// multiple of sizeof(T), or when adopted memory is not aligned for T.
  template <Element T>
  std::span<T> as() & {
    check_view(sizeof(T), alignof(T));
    return {reinterpret_cast<T*>(data_.get()), size_ / sizeof(T)};
  }
  /// The same, read-only.
  template <Element T>
  std::span<const T> as() const& {
    check_view(sizeof(T), alignof(T));
    return {reinterpret_cast<const T*>(data_.get()), size_ / sizeof(T)};
  }
  template <Element T>
  std::span<const T> as() const&& = delete;
  /// A copy of the elements. Throws what as() throws, and Error (out_of_memory).
  template <Element T>
  std::vector<T> to_vector() const {
    const auto elements = as<T>();
    return detail::with_errors([&] { return std::vector<T>(elements.begin(), elements.end()); });
  }

 private:
  /// Calls the given deleter, or frees memory that uninitialized() allocated. One pointer wide,
  /// because every tensor holds one.
  struct Free {
    std::unique_ptr<std::function<void(std::byte*)>> given;
    void operator()(std::byte* data) const;
  };
  using Pointer = std::unique_ptr<std::byte[], Free>;
  Buffer(Pointer data, std::size_t size) noexcept : data_(std::move(data)), size_(size) {}
  void check() const;
  void check_view(std::size_t element_size, std::size_t element_alignment) const;

  Pointer data_;
  std::size_t size_ = 0;
  bool detached_ = false;
};

}  // namespace polychron
