#include "protocol/strings.hpp"

#include <cstdint>
#include <cstring>

namespace polychron::server {

std::vector<std::string_view> strings_of(const WireTensor& tensor) {
  const auto bad = [&](const std::string& why) {
    return Refusal(Status::bad_request, "tensor '" + printable(tensor.name) + "', " +
                                            describe(tensor.type, tensor.shape) + ": " + why);
  };
  std::vector<std::string_view> strings;
  const Buffer& bytes = tensor.bytes;
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (auto rest = all; !rest.empty();) {
    std::uint32_t length = 0;
    const auto name = [&] { return "element " + std::to_string(strings.size()); };
    if (rest.size() < sizeof(length))
      throw bad(name() + " has " + std::to_string(rest.size()) + " bytes, expected a length of 4");
    std::memcpy(&length, rest.data(), sizeof(length));
    rest.remove_prefix(sizeof(length));
    if (length > rest.size())
      throw bad(name() + " has a length of " + std::to_string(length) + ", but " +
                std::to_string(rest.size()) + " bytes follow");
    strings.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (strings.size() != element_count(tensor.shape))
    throw bad("got " + std::to_string(strings.size()) + " elements");
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
