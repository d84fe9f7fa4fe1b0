#include "protocol/wire_type.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace polychron::server {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian");

namespace {

struct Row {
  std::string_view name;
  std::size_t bytes;
  std::string_view onnx;
};

constexpr std::array<Row, 14> rows{{{"BOOL", 1, "bool"},
                                    {"UINT8", 1, "uint8"},
                                    {"UINT16", 2, "uint16"},
                                    {"UINT32", 4, "uint32"},
                                    {"UINT64", 8, "uint64"},
                                    {"INT8", 1, "int8"},
                                    {"INT16", 2, "int16"},
                                    {"INT32", 4, "int32"},
                                    {"INT64", 8, "int64"},
                                    {"FP16", 2, "float16"},
                                    {"FP32", 4, "float"},
                                    {"FP64", 8, "double"},
                                    {"BYTES", 0, "string"},
                                    {"BF16", 2, "bfloat16"}}};

const Row& row(WireType type) { return rows[static_cast<std::size_t>(type)]; }

/// Each element by `change`. Through memcpy, as the wire's bytes may lie anywhere.
template <class From, class To, class F>
Buffer changed(const Buffer& from, F change) {
  const auto count = from.size() / sizeof(From);
  auto to = Buffer::uninitialized(count * sizeof(To));
  for (std::size_t i = 0; i < count; ++i) {
    From element;
    std::memcpy(&element, from.data() + i * sizeof(From), sizeof(From));
    const To made = change(element);
    std::memcpy(to.data() + i * sizeof(To), &made, sizeof(To));
  }
  return to;
}

template <class From, class To>
Buffer cast(const Buffer& from) {
  return changed<From, To>(from, [](From element) { return static_cast<To>(element); });
}

/// Rounds to the nearest, ties to even; a NaN stays one.
std::uint16_t to_bfloat16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  bits += 0x7FFF + ((bits >> 16) & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

}  // namespace

std::string_view to_string(WireType type) noexcept { return row(type).name; }

std::size_t byte_size(WireType type) noexcept { return row(type).bytes; }

std::optional<WireType> wire_type_from(std::string_view name) noexcept {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name) return static_cast<WireType>(i);
  return std::nullopt;
}

std::optional<WireType> wire_type_of(std::string_view onnx_type) noexcept {
  // The importer unpacks integers of 4 bits.
  if (onnx_type == "int4") return WireType::int8;
  if (onnx_type == "uint4") return WireType::uint8;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].onnx == onnx_type) return static_cast<WireType>(i);
  return std::nullopt;
}

Buffer to_operand(WireType type, Buffer&& wire) {
  switch (type) {
    case WireType::boolean:
      for (auto& each : wire.bytes()) each = each == std::byte{0} ? each : std::byte{1};
      return std::move(wire);
    case WireType::int16:
      return cast<std::int16_t, std::int32_t>(wire);
    case WireType::uint16:
      return cast<std::uint16_t, std::int32_t>(wire);
    case WireType::fp64:
      return cast<double, float>(wire);
    case WireType::bf16:
      return changed<std::uint16_t, float>(wire, [](std::uint16_t bits) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
      });
    default:
      break;
  }
  // A tensor in the middle of a body may lie at any address, and kernels want whole elements.
  const auto size = byte_size(type);
  if (size > 1 && reinterpret_cast<std::uintptr_t>(wire.data()) % size != 0)
    return Buffer::copy_of(wire.bytes());
  return std::move(wire);
}

Buffer from_operand(WireType type, Buffer&& operand) {
  switch (type) {
    case WireType::int16:
      return cast<std::int32_t, std::int16_t>(operand);
    case WireType::uint16:
      return cast<std::int32_t, std::uint16_t>(operand);
    case WireType::fp64:
      return cast<float, double>(operand);
    case WireType::bf16:
      return changed<float, std::uint16_t>(operand, to_bfloat16);
    default:
      return std::move(operand);
  }
}

}  // namespace polychron::server
