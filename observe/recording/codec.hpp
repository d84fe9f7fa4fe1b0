// Records as bytes: the number of its kind, then its fields, as messages/wire.hpp writes values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "messages/wire.hpp"
#include "observe/recording/record_numbers.hpp"
#include "observe/recording/records.hpp"

namespace polychron::recording {

/// At most this many bytes are written for it.
template <class T>
std::size_t most_bytes(const T& value) {
  using msg::wire::longest_number;
  if constexpr (std::is_same_v<T, std::string_view>) {
    return longest_number + value.size();
  } else if constexpr (msg::wire::Sequence<T>) {  // of numbers
    return longest_number * (value.size() + 1);
  } else if constexpr (std::is_integral_v<T>) {
    return longest_number;
  } else {
    return msg::with_fields(
        value, [](const auto&... fields) { return (std::size_t{1} + ... + most_bytes(fields)); });
  }
}

/// Writes where there is room for most_bytes().
class Encoder : public msg::wire::Writing<Encoder> {
 public:
  explicit Encoder(std::byte* at) noexcept : at_(at) {}

  /// Writes the encoding of a Record that holds `record`.
  template <class R>
  void record(const R& record) {
    constexpr auto kind = detail::index_in<R>(std::type_identity<Record>{});
    static_assert(kind < 0x80);
    byte(std::byte{kind});
    (*this)(record);
  }
  std::byte* end() const noexcept { return at_; }

  void byte(std::byte byte) noexcept { *at_++ = byte; }
  void raw(const void* data, std::size_t size) noexcept {
    if (size != 0) std::memcpy(at_, data, size);
    at_ += size;
  }

 private:
  std::byte* at_;
};

/// Reads the records of an Encoder. The bytes may come from anywhere, and are checked.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : reader_(bytes) {}

  bool at_end() const { return reader_.done(); }
  /// The next record, whose texts lie in the bytes. Nothing if they are not a record.
  std::optional<Record> record() {
    Record record;
    return read(record) ? std::optional(std::move(record)) : std::nullopt;
  }
  template <class T>
  bool read(T& value) {
    try {
      reader_(value);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

 private:
  msg::wire::Reader reader_;
};

}  // namespace polychron::recording
