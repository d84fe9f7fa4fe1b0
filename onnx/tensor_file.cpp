// Tensors outside of models: TensorValue, and the files in which ONNX keeps serialized tensors.
#include <cmath>
#include <string>
#include <utility>

#include "onnx/parse.hpp"
#include "onnx/problem.hpp"
#include "onnx/tensor_data.hpp"
#include "onnx/tensor_value.hpp"

namespace polychron::onnx {

namespace detail {

Literal literal_of(const TensorValue& value) {
  const auto type = element_type(value.type);
  checked_bytes(type, value.shape);
  if (element_size(type) == 0) return {type, value.shape, nullptr, {}};
  const std::size_t bytes = value.bytes ? value.bytes->size() : 0;
  const auto elements = element_count(value.shape);
  if (!elements || *elements > max_tensor_byte_length / element_size(type) ||
      *elements * element_size(type) != bytes)
    throw Error(ErrorKind::type_error,
                std::to_string(bytes) + " bytes for " + value.type + " " + to_string(value.shape));
  if (bytes == 0) return make_literal(type, value.shape, Buffer());
  return {type, value.shape, value.bytes, value.bytes->bytes()};
}

namespace {

/// Converts, and throws if a number changes, except by rounding to float32.
Literal convert(const Literal& from, ElementType to) {
  const auto check = [&](bool same) {
    if (!same) unsupported("a number is beyond the range of " + std::string(to_string(to)));
  };
  if (!is_real(from.type)) {
    const auto values = integers(from);
    auto result = make_literal(to, from.shape, values);
    if (!is_real(to)) check(integers(result) == values);
    return result;
  }
  if (!is_real(to))
    unsupported("numbers of type " + std::string(to_string(from.type)) + " as " +
                std::string(to_string(to)));
  const auto values = reals(from);
  auto result = make_literal(to, from.shape, values);
  const auto converted = reals(result);
  for (std::size_t i = 0; i < values.size(); ++i)
    check(std::isinf(values[i]) == std::isinf(converted[i]));
  return result;
}

}  // namespace

}  // namespace detail

TensorValue make_value(const OperandDescriptor& descriptor, Buffer&& bytes) {
  return polychron::detail::with_errors([&]() -> TensorValue {
    return {std::string(detail::to_string(detail::element_type(descriptor.data_type))),
            descriptor.shape, std::make_shared<const Buffer>(std::move(bytes))};
  });
}

std::optional<DataType> operand_type(const TensorValue& value) noexcept {
  return detail::operand_type(detail::element_type(value.type));
}

namespace {

TensorValue read_file(const std::filesystem::path& path) {
  try {
    const auto message = detail::parse_tensor_file(path);
    detail::ExternalData external(detail::folder_of(path));
    const auto literal = detail::take_tensor(*message, external).literal();
    TensorValue value{std::string(detail::to_string(literal.type)), literal.shape, nullptr};
    if (detail::element_size(literal.type) != 0)
      value.bytes = std::make_shared<const Buffer>(Buffer::copy_of(literal.bytes));
    return value;
  } catch (const Error& error) {
    throw Error(error.kind(),
                "tensor file " + detail::quote(path.string()) + ": " + error.message());
  }
}

Buffer converted(const TensorValue& value, DataType type) {
  const auto literal = detail::literal_of(value);
  if (!literal.owner) detail::unsupported("no elements of type " + value.type + " on the host");
  const auto wanted = detail::element_type(type);
  const bool as_it_is = literal.type == wanted || (literal.type == detail::ElementType::boolean &&
                                                   wanted == detail::ElementType::uint8);
  return Buffer::copy_of(as_it_is ? literal.bytes : detail::convert(literal, wanted).bytes);
}

}  // namespace

TensorValue read_tensor(const std::filesystem::path& path) {
  return polychron::detail::with_errors([&] { return read_file(path); });
}

Buffer operand_bytes(const TensorValue& value, DataType type) {
  return polychron::detail::with_errors([&] { return converted(value, type); });
}

}  // namespace polychron::onnx
