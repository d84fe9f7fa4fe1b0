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

std::string shown(const json::value& value) { return printable(json::serialize(value), 40); }

/// Calls `each(value)` for every element, in row-major order.
template <class F>
void for_each(const json::value& data, F& each) {
  if (const auto* list = data.if_array())
    for (const auto& inner : *list) for_each(inner, each);
  else
    each(data);
}

template <class T>
T integer(const WireTensor& tensor, const json::value& value, std::size_t at) {
  const auto signed_value = value.if_int64();
  const auto unsigned_value = value.if_uint64();
  if (signed_value && std::in_range<T>(*signed_value)) return static_cast<T>(*signed_value);
  if (unsigned_value && std::in_range<T>(*unsigned_value)) return static_cast<T>(*unsigned_value);
  wrong_element(tensor, at,
                "is " + shown(value) + ", expected an integer of type " +
                    std::string(to_string(tensor.type)));
}

template <class T>
T real(const WireTensor& tensor, const json::value& value, std::size_t at) {
  double number = 0;
  if (const auto* as_double = value.if_double())
    number = *as_double;
  else if (const auto* as_int = value.if_int64())
    number = static_cast<double>(*as_int);
  else if (const auto* as_uint = value.if_uint64())
    number = static_cast<double>(*as_uint);
  else
    wrong_element(tensor, at, "is " + shown(value) + ", expected a number");
  const auto made = static_cast<T>(number);
  if (std::isinf(made) || std::isinf(number))
    wrong_element(tensor, at,
                  "is " + shown(value) + ", too large for " + std::string(to_string(tensor.type)));
  return made;
}

bool boolean(const WireTensor& tensor, const json::value& value, std::size_t at) {
  if (const auto* as_bool = value.if_bool()) return *as_bool;
  if (const auto* number = value.if_int64(); number && (*number == 0 || *number == 1))
    return *number == 1;
  wrong_element(tensor, at, "is " + shown(value) + ", expected true or false");
}

std::uint64_t count_of(const json::value& data) {
  std::uint64_t count = 0;
  auto one = [&](const json::value&) { ++count; };
  for_each(data, one);
  return count;
}

/// Stores one element of T for each value.
template <class T, class F>
void fill(WireTensor& tensor, const json::value& data, F element) {
  // Counted before memory is taken: a shape costs nothing to write.
  const auto count = count_of(data);
  if (count != element_count(tensor.shape))
    throw Refusal(Status::bad_request, "input '" + printable(tensor.name) + "': expected " +
                                           describe(tensor.type, tensor.shape) + ", got " +
                                           std::to_string(count) + " elements");
  tensor.bytes = Buffer::uninitialized(count * sizeof(T));
  std::size_t at = 0;
  auto store = [&](const json::value& value) {
    const T made = element(value, at);
    std::memcpy(tensor.bytes.data() + at++ * sizeof(T), &made, sizeof(T));
  };
  for_each(data, store);
}

template <class T>
void fill_integers(WireTensor& tensor, const json::value& data) {
  fill<T>(tensor, data,
          [&](const json::value& value, std::size_t at) { return integer<T>(tensor, value, at); });
}

void fill_strings(WireTensor& tensor, const json::value& data) {
  std::string bytes;
  std::uint64_t count = 0;
  auto store = [&](const json::value& value) {
    const auto* text = value.if_string();
    if (!text) wrong_element(tensor, count, "is " + shown(value) + ", expected a string");
    append_string(bytes, {text->data(), text->size()});
    ++count;
  };
  for_each(data, store);
  if (count != element_count(tensor.shape))
    throw Refusal(Status::bad_request, "input '" + printable(tensor.name) +
                                           "': " + describe(tensor.type, tensor.shape) + " got " +
                                           std::to_string(count) + " strings");
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

void read_elements(WireTensor& tensor, const json::value& data) {
  const auto reals = [&]<class T>(T, auto convert) {
    fill<T>(tensor, data,
            [&](const json::value& value, std::size_t at) { return convert(tensor, value, at); });
  };
  switch (tensor.type) {
    case WireType::boolean:
      return fill<std::uint8_t>(tensor, data, [&](const json::value& value, std::size_t at) {
        return static_cast<std::uint8_t>(boolean(tensor, value, at));
      });
    case WireType::uint8:
      return fill_integers<std::uint8_t>(tensor, data);
    case WireType::uint16:
      return fill_integers<std::uint16_t>(tensor, data);
    case WireType::uint32:
      return fill_integers<std::uint32_t>(tensor, data);
    case WireType::uint64:
      return fill_integers<std::uint64_t>(tensor, data);
    case WireType::int8:
      return fill_integers<std::int8_t>(tensor, data);
    case WireType::int16:
      return fill_integers<std::int16_t>(tensor, data);
    case WireType::int32:
      return fill_integers<std::int32_t>(tensor, data);
    case WireType::int64:
      return fill_integers<std::int64_t>(tensor, data);
    case WireType::fp32:
      return reals(float{}, real<float>);
    case WireType::fp64:
      return reals(double{}, real<double>);
    case WireType::fp16:
      return reals(float16{}, [](const WireTensor& t, const json::value& value, std::size_t at) {
        const float16 made(real<double>(t, value, at));
        if (std::isinf(static_cast<float>(made)))
          wrong_element(t, at, "is " + shown(value) + ", too large for FP16");
        return made;
      });
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
