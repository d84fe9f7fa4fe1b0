#include "protocol/strings.hpp"

#include <cstdint>
#include <cstring>

namespace polychron::server {

namespace {

/// Calls `each(text)` for every element, in order.
template <class F>
void for_each_string(const WireTensor& tensor, const F& each) {
  const auto bad = [&](const std::string& why) {
    return Refusal(Status::bad_request, "tensor '" + printable(tensor.name) + "', " +
                                            describe(tensor.type, tensor.shape) + ": " + why);
  };
  const auto expected = element_count(tensor.shape);
  std::uint64_t count = 0;
  const Buffer& bytes = tensor.bytes;
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (; !rest.empty(); ++count) {
    if (count == expected) throw bad("more elements follow");
    std::uint32_t length = 0;
    if (rest.size() < sizeof(length))
      throw bad("element " + std::to_string(count) + " has " + std::to_string(rest.size()) +
                " bytes, expected a length of 4");
    std::memcpy(&length, rest.data(), sizeof(length));
    rest.remove_prefix(sizeof(length));
    if (length > rest.size())
      throw bad("element " + std::to_string(count) + " has a length of " + std::to_string(length) +
                ", but " + std::to_string(rest.size()) + " bytes follow");
    each(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (count != expected) throw bad("got " + std::to_string(count) + " elements");
}

}  // namespace

void check_strings(const WireTensor& tensor) {
  for_each_string(tensor, [](std::string_view) {});
}

std::vector<std::string_view> strings_of(const WireTensor& tensor) {
  std::vector<std::string_view> strings;
  for_each_string(tensor, [&](std::string_view text) { strings.push_back(text); });
  return strings;
}

void append_string(std::string& bytes, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes.append(text);
}

Buffer bytes_of(const std::vector<std::string>& strings) {
  std::string bytes;
  for (const auto& each : strings) append_string(bytes, each);
  return Buffer::copy_of(std::as_bytes(std::span(bytes)));
}

}  // namespace polychron::server
