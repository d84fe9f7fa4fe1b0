#include "apps/tool/conformance/values.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "ops/number.hpp"

namespace polychron::conformance {

namespace {

template <class T>
std::optional<T> whole(std::string_view digits) {
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

[[noreturn]] void unexpected(const std::string& expected, const json& found) {
  throw Malformed("expected " + expected + ", found " + excerpt(found));
}

}  // namespace

std::string excerpt(const json& value) {
  constexpr std::size_t longest = 60;
  if (value.is_structured() && value.size() > longest)
    return "a list of " + std::to_string(value.size());
  auto text = value.dump(-1, ' ', true);  // ASCII: a cut never splits a character
  if (text.size() > longest) text = text.substr(0, longest) + " ...";
  return text;
}

const json& member(const json& object, const char* key) {
  if (!object.is_object()) unexpected("an object with '" + std::string(key) + "'", object);
  const auto found = object.find(key);
  if (found == object.end()) throw Malformed("'" + std::string(key) + "' is missing");
  return *found;
}

std::string text_of(const json& value) {
  if (!value.is_string()) unexpected("a string", value);
  return value.get<std::string>();
}

bool flag_of(const json& value) {
  if (!value.is_boolean()) unexpected("true or false", value);
  return value.get<bool>();
}

Number number_of(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) unexpected("a number", value);
  const auto& text = value.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "-0") return -0.0;
  if (text.ends_with('n')) {
    const auto digits = std::string_view(text).substr(0, text.size() - 1);
    if (digits.starts_with('-')) {
      if (const auto number = whole<std::int64_t>(digits)) return *number;
    } else if (const auto number = whole<std::uint64_t>(digits)) {
      return *number;
    }
  }
  unexpected("a number of 64 bits", value);
}

double real_of(const json& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, number_of(value));
}

std::int64_t integer_of(const json& value, std::int64_t least, std::int64_t most) {
  const auto number = number_of(value);
  std::optional<std::int64_t> integer;
  if (const auto* s = std::get_if<std::int64_t>(&number)) integer = *s;
  if (const auto* u = std::get_if<std::uint64_t>(&number); u && std::in_range<std::int64_t>(*u))
    integer = static_cast<std::int64_t>(*u);
  if (!integer || *integer < least || *integer > most)
    unexpected("a whole number from " + std::to_string(least) + " to " + std::to_string(most),
               value);
  return *integer;
}

OperandDescriptor descriptor_of(const json& operand) {
  const auto name = text_of(member(operand, "dataType"));
  const auto type = data_type_from_string(name);
  if (!type) throw Malformed("there is no data type " + excerpt(name));
  const auto& dimensions = member(operand, "shape");
  if (!dimensions.is_array()) unexpected("a list of dimensions", dimensions);
  OperandDescriptor descriptor{*type, {}};
  for (const auto& dimension : dimensions)
    descriptor.shape.push_back(static_cast<std::uint32_t>(
        integer_of(dimension, 0, std::numeric_limits<std::uint32_t>::max())));
  const auto bytes = byte_length(descriptor);
  if (!bytes || *bytes > largest_operand)
    throw Malformed("shape " + excerpt(dimensions) + " is more than " +
                    describe_bytes(largest_operand));
  return descriptor;
}

const json& datum(const json& operand, std::size_t index) {
  const auto& data = member(operand, "data");
  return data.is_array() ? data.at(data.size() == 1 ? 0 : index) : data;
}

Buffer bytes_of(const json& operand) {
  const auto descriptor = descriptor_of(operand);
  const auto& data = member(operand, "data");
  const auto count = *element_count(descriptor.shape);
  if (data.is_array() && data.size() != 1 && data.size() != count)
    throw Malformed("'data' has " + std::to_string(data.size()) + " numbers where shape " +
                    to_string(descriptor.shape) + " takes " + std::to_string(count));
  if (is_packed(descriptor.data_type)) {
    Buffer packed(*byte_length(descriptor));
    for (std::size_t i = 0; i < count; ++i)
      packed.bytes()[i / 2] |=
          ops::element_bytes(number_of(datum(operand, i)), descriptor.data_type)[0] << i % 2 * 4;
    return packed;
  }
  const auto size = byte_size(descriptor.data_type);
  auto buffer = Buffer::uninitialized(count * size);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0 || (data.is_array() && data.size() != 1))
      bytes = ops::element_bytes(number_of(datum(operand, i)), descriptor.data_type);
    std::memcpy(buffer.data() + i * size, bytes.data(), size);
  }
  return buffer;
}

}  // namespace polychron::conformance
