#include "onnx/tensor_data.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "onnx/problem.hpp"

namespace polychron::onnx::detail {

namespace {

Shape checked_shape(const proto::TensorProto& tensor) {
  if (tensor.dims_size() > static_cast<int>(max_rank))
    unsupported("rank " + std::to_string(tensor.dims_size()) + " is above " +
                std::to_string(max_rank));
  Shape shape;
  for (const auto dimension : tensor.dims()) {
    if (dimension < 0 || dimension > std::numeric_limits<std::uint32_t>::max())
      malformed("a dimension of " + std::to_string(dimension));
    shape.push_back(static_cast<std::uint32_t>(dimension));
  }
  checked_bytes(ElementType::undefined, shape);
  return shape;
}

std::size_t checked_size(const Shape& shape, std::size_t element) {
  const auto elements = element_count(shape);
  if (!elements || *elements > max_tensor_byte_length / element)
    unsupported("shape " + to_string(shape) + " is above " +
                std::to_string(max_tensor_byte_length) + " bytes");
  return static_cast<std::size_t>(*elements) * element;
}

void check_bytes(std::uint64_t have, std::uint64_t want, const Shape& shape, const char* what) {
  if (have != want)
    malformed(std::to_string(have) + " " + what + " where shape " + to_string(shape) + " takes " +
              std::to_string(want));
}

template <class T>
Literal adopt(ElementType type, const Shape& shape, std::shared_ptr<const T> owner) {
  const auto bytes =
      std::as_bytes(std::span(owner->data(), static_cast<std::size_t>(owner->size())));
  return {type, shape, std::move(owner), bytes};
}

/// Moves a typed field whose elements have the tensor's width.
template <class Field>
Literal take_field(ElementType type, const Shape& shape, Field& field) {
  auto owner = std::make_shared<Field>();
  owner->Swap(&field);
  return adopt<Field>(type, shape, std::move(owner));
}

/// Converts a typed field that has one narrow element in each entry.
template <class T, class Field>
Literal narrow_field(ElementType type, const Shape& shape, const Field& field) {
  auto bytes = Buffer::uninitialized(static_cast<std::size_t>(field.size()) * sizeof(T));
  auto* out = reinterpret_cast<T*>(bytes.data());
  std::transform(field.begin(), field.end(), out, [&](auto value) {
    if (!std::in_range<T>(value))
      malformed("element " + std::to_string(value) + " is out of the range of " +
                std::string(to_string(type)));
    return static_cast<T>(value);
  });
  return make_literal(type, shape, std::move(bytes));
}

Literal take_typed(proto::TensorProto& tensor, ElementType type, const Shape& shape,
                   std::size_t elements) {
  const auto sized = [&](auto& field) -> auto& {
    check_bytes(static_cast<std::uint64_t>(field.size()), elements, shape, "elements");
    return field;
  };
  switch (type) {
    case ElementType::float32:
      return take_field(type, shape, sized(*tensor.mutable_float_data()));
    case ElementType::float64:
      return take_field(type, shape, sized(*tensor.mutable_double_data()));
    case ElementType::int64:
      return take_field(type, shape, sized(*tensor.mutable_int64_data()));
    case ElementType::uint64:
      return take_field(type, shape, sized(*tensor.mutable_uint64_data()));
    case ElementType::int32:
      return take_field(type, shape, sized(*tensor.mutable_int32_data()));
    case ElementType::uint32:
      return narrow_field<std::uint32_t>(type, shape, sized(tensor.uint64_data()));
    case ElementType::int8:
      return narrow_field<std::int8_t>(type, shape, sized(tensor.int32_data()));
    case ElementType::int16:
      return narrow_field<std::int16_t>(type, shape, sized(tensor.int32_data()));
    case ElementType::uint8:
    case ElementType::boolean:
    case ElementType::uint4:
    case ElementType::int4:
      return narrow_field<std::uint8_t>(type, shape, sized(tensor.int32_data()));
    default:  // uint16, and float16 as its bits
      return narrow_field<std::uint16_t>(type, shape, sized(tensor.int32_data()));
  }
}

/// Integers of 4 bits: two lie in a byte, the first in the low bits.
Literal unpacked(const Literal& packed) {
  auto elements = Buffer::uninitialized(count(packed));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto bits = std::to_integer<int>(packed.bytes[i / 2] >> (i % 2 * 4)) & 15;
    const auto value = packed.type == ElementType::int4 && bits > 7 ? bits - 16 : bits;
    elements.data()[i] = static_cast<std::byte>(value);
  }
  return make_literal(packed.type, packed.shape, std::move(elements));
}

std::uint64_t number(const proto::StringStringEntryProto& entry) {
  std::uint64_t value = 0;
  const auto& text = entry.value();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    malformed("external data: " + quote(entry.key()) + " is " + quote(text));
  return value;
}

std::shared_ptr<const FileRange> external_range(const proto::TensorProto& tensor, ElementType type,
                                                std::size_t size, const Shape& shape,
                                                ExternalData& external) {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = size;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry);
    if (entry.key() == "length") length = number(entry);
  }
  check_bytes(length, size, shape, "bytes of external data");
  return external.range(location, offset, length, is_packed(type) ? 1 : element_size(type));
}

/// Takes the stored `size` bytes, from the message or from the data parsed apart.
Literal take_stored(proto::TensorProto& tensor, ElementType type, const Shape& shape,
                    std::size_t size, ExternalData& external) {
  if (!tensor.has_raw_data()) return take_typed(tensor, type, shape, size / element_size(type));
  if (auto bytes = external.take(tensor)) {
    check_bytes(bytes->size(), size, shape, "bytes");
    return adopt<Buffer>(type, shape, std::move(bytes));
  }
  check_bytes(tensor.raw_data().size(), size, shape, "bytes");
  return adopt<std::string>(type, shape,
                            std::shared_ptr<const std::string>(tensor.release_raw_data()));
}

}  // namespace

Constant take_tensor(proto::TensorProto& tensor, ExternalData& external) {
  const auto type = static_cast<ElementType>(tensor.data_type());
  const auto shape = checked_shape(tensor);
  const auto element = element_size(type);
  if (element == 0) return Literal{type, shape, nullptr, {}};
  if (tensor.has_segment()) unsupported("it is stored in segments");
  const auto size = checked_size(shape, element);
  const auto stored = is_packed(type) ? (size + 1) / 2 : size;
  const auto whole = [type](Literal literal) {
    return is_packed(type) ? unpacked(literal) : literal;
  };
  auto range = external.found(tensor);
  if (tensor.data_location() == proto::TensorProto::EXTERNAL)
    range = external_range(tensor, type, stored, shape, external);
  else if (range != nullptr)
    check_bytes(range->length(), stored, shape, "bytes");
  if (range != nullptr)
    return Constant(size, [=] {
      auto [bytes, copied] = range->bytes();
      return Constant::Read{whole(adopt<Buffer>(type, shape, std::move(bytes))),
                            copied || is_packed(type)};
    });
  return whole(take_stored(tensor, type, shape, stored, external));
}

}  // namespace polychron::onnx::detail
