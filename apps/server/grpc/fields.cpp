#include "grpc/fields.hpp"

#include <charconv>

namespace polychron::server {

nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string percent_encoded(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string made;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte >= 0x20 && byte < 0x7F && each != '%')
      made += each;
    else
      made.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return made;
}

namespace {

/// "100m" is 100 milliseconds. Nothing if it is damaged, or longer than a day.
std::optional<std::chrono::nanoseconds> timeout_of(std::string_view text) {
  using namespace std::chrono;
  if (text.size() < 2 || text.size() > 9) return std::nullopt;
  std::int64_t count = 0;
  const auto* const end = text.data() + text.size() - 1;
  if (std::from_chars(text.data(), end, count).ptr != end || count < 0) return std::nullopt;
  const auto unit = [&]() -> nanoseconds {
    switch (text.back()) {
      case 'n':
        return nanoseconds(1);
      case 'u':
        return microseconds(1);
      case 'm':
        return milliseconds(1);
      case 'S':
        return seconds(1);
      case 'M':
        return minutes(1);
      case 'H':
        return hours(1);
      default:
        return nanoseconds(0);
    }
  }();
  if (unit.count() == 0 || count > nanoseconds(hours(24)) / unit) return std::nullopt;
  return count * unit;
}

}  // namespace

void read_field(Call& call, std::string_view name, std::string_view value) {
  if (!call.header) return;
  if (name == ":method")
    call.header->verb = value;
  else if (name == ":path")
    call.header->path = value;
  else if (name == "content-type")
    call.header->content_type = value;
  else if (name == "authorization")
    call.header->authorization = value;
  else if (name == "grpc-encoding")
    call.encoding = value.substr(0, 64);
  else if (name == "traceparent")
    call.trace = value.substr(0, 64);
  else if (name == "grpc-timeout")
    if (const auto timeout = timeout_of(value))
      call.deadline = std::chrono::steady_clock::now() + *timeout;
}

}  // namespace polychron::server
