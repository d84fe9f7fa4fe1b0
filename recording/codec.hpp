// Records as bytes: the number of its kind, then its fields one after the other, whole numbers as
// LEB128 (seven bits a byte, the lowest first; signed ones zigzag), texts and lists after their
// length. No code lists fields: records are plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "messages/fields.hpp"
#include "recording/records.hpp"

namespace polychron::recording {

namespace detail {
template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;

template <class T, class... Ts>
constexpr std::size_t index_in(std::type_identity<std::variant<Ts...>>) {
  std::size_t index = 0;
  (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
  return index;
}
}  // namespace detail

/// The number of a kind of record in a file.
template <class R>
constexpr auto number_of =
    static_cast<std::uint8_t>(detail::index_in<R>(std::type_identity<Record>{}));

constexpr std::size_t longest_number = 10;

/// The most bytes that it can take.
template <class T>
std::size_t most_bytes(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return longest_number + value.size();
  } else if constexpr (detail::is_list<T>) {
    return longest_number * (value.size() + 1);
  } else if constexpr (std::is_integral_v<T>) {
    return longest_number;
  } else {
    return msg::with_fields(
        value, [](const auto&... fields) { return (std::size_t{1} + ... + most_bytes(fields)); });
  }
}

/// Writes to memory with room for most_bytes().
class Encoder {
 public:
  explicit Encoder(std::byte* at) noexcept : at_(at) {}

  template <class R>
  void record(const R& record) noexcept {
    *at_++ = std::byte{number_of<R>};
    (*this)(record);
  }
  std::byte* end() const noexcept { return at_; }
  template <class T>
  void operator()(const T& value) noexcept {
    if constexpr (std::is_same_v<T, std::string_view>) {
      number(value.size());
      if (!value.empty()) std::memcpy(at_, value.data(), value.size());
      at_ += value.size();
    } else if constexpr (detail::is_list<T>) {
      number(value.size());
      for (const auto& element : value) (*this)(element);
    } else if constexpr (std::is_signed_v<T>) {
      const auto bits = static_cast<std::uint64_t>(value);
      number((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
    } else if constexpr (std::is_integral_v<T>) {
      number(value);
    } else {
      msg::with_fields(value, [this](const auto&... fields) { ((*this)(fields), ...); });
    }
  }

 private:
  void number(std::uint64_t value) noexcept {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<std::byte>(value | 0x80);
    *at_++ = static_cast<std::byte>(value);
  }

  std::byte* at_;
};

/// Reads the records of an Encoder. The bytes may come from anywhere, and are checked.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  bool at_end() const noexcept { return left_.empty(); }
  /// The next record, whose texts refer to the bytes; nullopt if they are not a record.
  std::optional<Record> record() {
    if (left_.empty()) return std::nullopt;
    const auto kind = static_cast<std::size_t>(left_.front());
    left_ = left_.subspan(1);
    return of_kind(kind, std::make_index_sequence<std::variant_size_v<Record>>{});
  }
  template <class T>
  bool read(T& value) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      std::uint64_t size = 0;
      if (!number(size) || size > left_.size()) return false;
      value = {reinterpret_cast<const char*>(left_.data()), static_cast<std::size_t>(size)};
      left_ = left_.subspan(static_cast<std::size_t>(size));
      return true;
    } else if constexpr (detail::is_list<T>) {
      std::uint64_t size = 0;
      if (!number(size) || size > left_.size()) return false;  // an element takes at least one byte
      value.resize(static_cast<std::size_t>(size));
      for (auto& element : value)
        if (!read(element)) return false;
      return true;
    } else if constexpr (std::is_same_v<T, bool>) {
      std::uint64_t bits = 0;
      if (!number(bits) || bits > 1) return false;
      value = bits != 0;
      return true;
    } else if constexpr (std::is_integral_v<T>) {
      std::uint64_t bits = 0;
      if (!number(bits)) return false;
      if constexpr (std::is_signed_v<T>) {
        value = static_cast<T>((bits >> 1) ^ (~(bits & 1) + 1));
      } else {
        value = static_cast<T>(bits);
        if (value != bits) return false;
      }
      return true;
    } else {
      return msg::with_fields(value,
                              [this](auto&... fields) { return (this->read(fields) && ...); });
    }
  }

 private:
  template <std::size_t... I>
  std::optional<Record> of_kind(std::size_t kind, std::index_sequence<I...>) {
    std::optional<Record> result;
    const auto take = [&](auto record) {
      if (read(record)) result = std::move(record);
    };
    (void)((kind == I && (take(std::variant_alternative_t<I, Record>{}), true)) || ...);
    return result;
  }
  bool number(std::uint64_t& value) noexcept {
    value = 0;
    for (std::size_t i = 0; i < longest_number && i < left_.size(); ++i) {
      const auto byte = static_cast<std::uint64_t>(left_[i]);
      if (i == longest_number - 1 && byte > 1) return false;
      value |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) {
        left_ = left_.subspan(i + 1);
        return true;
      }
    }
    return false;
  }

  std::span<const std::byte> left_;
};

}  // namespace polychron::recording
