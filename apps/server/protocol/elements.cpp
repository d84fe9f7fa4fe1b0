#include "protocol/elements.hpp"

#include <bit>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <cstring>
#include <polychron/float16.hpp>
#include <type_traits>
#include <utility>

#include "protocol/strings.hpp"

namespace polychron::server {

namespace {

namespace json = boost::json;

[[noreturn]] void wrong_element(const WireTensor& tensor, std::size_t at, const std::string& why) {
  throw Refusal(Status::bad_request, "input '" + printable(tensor.name) + "': element " +
                                         std::to_string(at) + " " + why);
}

std::string shown(const Data& data, std::size_t at) {
  const auto text = [&](auto value) -> std::string {
    if constexpr (std::is_same_v<decltype(value), ElementText>)
      return json::serialize(json::string_view(data.text.data() + value.begin, value.size));
    else
      return json::serialize(json::value(value));
  };
  return printable(std::visit(text, data.elements[at]), 40);
}

template <class T>
T integer(const WireTensor& tensor, const Data& data, std::size_t at) {
  const auto& element = data.elements[at];
  if (const auto* value = std::get_if<std::int64_t>(&element); value && std::in_range<T>(*value))
    return static_cast<T>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&element); value && std::in_range<T>(*value))
    return static_cast<T>(*value);
  wrong_element(tensor, at,
                "is " + shown(data, at) + ", expected an integer of type " +
                    std::string(to_string(tensor.type)));
}

template <class T>
T real(const WireTensor& tensor, const Data& data, std::size_t at) {
  const auto& element = data.elements[at];
  double number = 0;
  if (const auto* as_double = std::get_if<double>(&element))
    number = *as_double;
  else if (const auto* as_int = std::get_if<std::int64_t>(&element))
    number = static_cast<double>(*as_int);
  else if (const auto* as_uint = std::get_if<std::uint64_t>(&element))
    number = static_cast<double>(*as_uint);
  else
    wrong_element(tensor, at, "is " + shown(data, at) + ", expected a number");
  const auto made = static_cast<T>(number);
  if (std::isinf(made) || std::isinf(number))
    wrong_element(
        tensor, at,
        "is " + shown(data, at) + ", too large for " + std::string(to_string(tensor.type)));
  return made;
}

std::uint8_t boolean(const WireTensor& tensor, const Data& data, std::size_t at) {
  const auto& element = data.elements[at];
  if (const auto* as_bool = std::get_if<bool>(&element)) return *as_bool;
  if (const auto* number = std::get_if<std::int64_t>(&element);
      number && (*number == 0 || *number == 1))
    return *number == 1;
  wrong_element(tensor, at, "is " + shown(data, at) + ", expected true or false");
}

float16 half(const WireTensor& tensor, const Data& data, std::size_t at) {
  const float16 made(real<double>(tensor, data, at));
  if (std::isinf(static_cast<float>(made)))
    wrong_element(tensor, at, "is " + shown(data, at) + ", too large for FP16");
  return made;
}

/// Stores one element of T for each element of the data. Counts before it takes memory: a shape
/// costs nothing to write.
template <class T>
void fill(WireTensor& tensor, const Data& data,
          T (*element)(const WireTensor&, const Data&, std::size_t)) {
  const auto count = data.elements.size();
  if (count != element_count(tensor.shape))
    throw Refusal(Status::bad_request, "input '" + printable(tensor.name) + "': expected " +
                                           describe(tensor.type, tensor.shape) + ", got " +
                                           std::to_string(count) + " elements");
  tensor.bytes = Buffer::uninitialized(count * sizeof(T));
  for (std::size_t at = 0; at < count; ++at) {
    const T made = element(tensor, data, at);
    std::memcpy(tensor.bytes.data() + at * sizeof(T), &made, sizeof(T));
  }
}

void fill_strings(WireTensor& tensor, const Data& data) {
  const auto count = data.elements.size();
  if (count != element_count(tensor.shape))
    throw Refusal(Status::bad_request, "input '" + printable(tensor.name) +
                                           "': " + describe(tensor.type, tensor.shape) + " got " +
                                           std::to_string(count) + " strings");
  std::string bytes;
  for (std::size_t at = 0; at < count; ++at) {
    const auto* text = std::get_if<ElementText>(&data.elements[at]);
    if (!text) wrong_element(tensor, at, "is " + shown(data, at) + ", expected a string");
    append_string(bytes, data.text.substr(text->begin, text->size));
  }
  tensor.bytes = Buffer::copy_of(std::as_bytes(std::span(bytes)));
}

float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <class T>
void append_number(std::string& text, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return void(text += "NaN");
    if (std::isinf(value)) return void(text += value < 0 ? "-Infinity" : "Infinity");
    if (value == 0 && std::signbit(value)) return void(text += "-0.0");  // "-0" is an integer
  }
  char digits[40];
  text.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

template <class T, class F>
void append_elements(std::string& text, const Buffer& bytes, F shown_as) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof(T));
    if (at > 0) text += ',';
    shown_as(element);
  }
}

template <class T>
void append_numbers(std::string& text, const Buffer& bytes) {
  append_elements<T>(text, bytes, [&](T element) { append_number(text, element); });
}

void append_strings(std::string& text, const WireTensor& tensor) {
  bool first = true;
  for (const auto each : strings_of(tensor)) {
    if (!is_utf8(each))
      throw Refusal(Status::bad_request,
                    "output '" + printable(tensor.name) +
                        "' has bytes that are not UTF-8: ask for it with binary_data");
    if (!first) text += ',';
    first = false;
    text += json::serialize(json::string_view(each.data(), each.size()));
  }
}

}  // namespace

void read_elements(WireTensor& tensor, const Data& data) {
  switch (tensor.type) {
    case WireType::boolean:
      return fill(tensor, data, boolean);
    case WireType::uint8:
      return fill(tensor, data, integer<std::uint8_t>);
    case WireType::uint16:
      return fill(tensor, data, integer<std::uint16_t>);
    case WireType::uint32:
      return fill(tensor, data, integer<std::uint32_t>);
    case WireType::uint64:
      return fill(tensor, data, integer<std::uint64_t>);
    case WireType::int8:
      return fill(tensor, data, integer<std::int8_t>);
    case WireType::int16:
      return fill(tensor, data, integer<std::int16_t>);
    case WireType::int32:
      return fill(tensor, data, integer<std::int32_t>);
    case WireType::int64:
      return fill(tensor, data, integer<std::int64_t>);
    case WireType::fp32:
      return fill(tensor, data, real<float>);
    case WireType::fp64:
      return fill(tensor, data, real<double>);
    case WireType::fp16:
      return fill(tensor, data, half);
    case WireType::bf16:
      throw Refusal(Status::bad_request,
                    "input '" + printable(tensor.name) + "': BF16 is accepted as binary data only");
    case WireType::bytes:
      return fill_strings(tensor, data);
  }
}

void write_elements(std::string& text, const WireTensor& tensor) {
  text += '[';
  const Buffer& bytes = tensor.bytes;
  switch (tensor.type) {
    case WireType::boolean:
      append_elements<std::uint8_t>(
          text, bytes, [&](std::uint8_t element) { text += element ? "true" : "false"; });
      break;
    case WireType::uint8:
      append_numbers<std::uint8_t>(text, bytes);
      break;
    case WireType::uint16:
      append_numbers<std::uint16_t>(text, bytes);
      break;
    case WireType::uint32:
      append_numbers<std::uint32_t>(text, bytes);
      break;
    case WireType::uint64:
      append_numbers<std::uint64_t>(text, bytes);
      break;
    case WireType::int8:
      append_numbers<std::int8_t>(text, bytes);
      break;
    case WireType::int16:
      append_numbers<std::int16_t>(text, bytes);
      break;
    case WireType::int32:
      append_numbers<std::int32_t>(text, bytes);
      break;
    case WireType::int64:
      append_numbers<std::int64_t>(text, bytes);
      break;
    case WireType::fp32:
      append_numbers<float>(text, bytes);
      break;
    case WireType::fp64:
      append_numbers<double>(text, bytes);
      break;
    case WireType::fp16:
      append_elements<float16>(
          text, bytes, [&](float16 element) { append_number(text, static_cast<float>(element)); });
      break;
    case WireType::bf16:
      append_elements<std::uint16_t>(
          text, bytes, [&](std::uint16_t element) { append_number(text, from_bfloat16(element)); });
      break;
    case WireType::bytes:
      append_strings(text, tensor);
      break;
  }
  text += ']';
}

}  // namespace polychron::server
