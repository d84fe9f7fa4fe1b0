#include "frames.hpp"

#include <algorithm>

namespace polychron::server::tests {

std::string number_text(std::uint32_t number) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xFF);
  return text;
}

std::string frame_text(FrameType type, std::uint8_t flags, std::uint32_t stream,
                       const std::string& payload) {
  return number_text(static_cast<std::uint32_t>(payload.size())).substr(1) +
         static_cast<char>(type) + static_cast<char>(flags) + number_text(stream) + payload;
}

namespace {

/// A length of seven bits, then of seven bits a byte.
std::string length_text(std::size_t length) {
  if (length < 127) return {static_cast<char>(length)};
  std::string text = "\x7F";
  for (length -= 127; length > 127; length >>= 7) text += static_cast<char>((length & 127) | 128);
  return text + static_cast<char>(length);
}

}  // namespace

std::string field_text(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + length_text(name.size()) + name + length_text(value.size()) + value;
}

std::string call_fields(const std::string& method, const std::string& more) {
  return field_text(":method", "POST") + field_text(":scheme", "http") +
         field_text(":path", method) + field_text(":authority", "t") +
         field_text("te", "trailers") + field_text("content-type", "application/grpc") + more;
}

std::string prefix_text(std::size_t length) {
  return '\0' + number_text(static_cast<std::uint32_t>(length));
}

std::string message_text(const std::string& message) {
  return prefix_text(message.size()) + message;
}

FrameClient::FrameClient(std::uint16_t port, std::uint32_t window) : client(port) {
  nghttp2_hd_inflate_new(&inflater_);
  constexpr std::uint8_t ack = 1;          // of the server's, which it has by then
  constexpr std::uint32_t given = 65'535;  // without asking, to each stream and to all
  const auto of_stream = std::string("\0\4", 2) + number_text(window);
  client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame_text(settings_frame, 0, 0, of_stream) +
              frame_text(settings_frame, ack, 0));
  if (window > given) client.send(frame_text(window_frame, 0, 0, number_text(window - given)));
}

FrameClient::~FrameClient() { nghttp2_hd_inflate_del(inflater_); }

void FrameClient::begin(std::uint32_t stream, const std::string& method, const std::string& more,
                        std::uint8_t flags) {
  send(frame_text(headers_frame, end_headers | flags, stream, call_fields(method, more)));
}

std::optional<Frame> FrameClient::next() {
  const auto head = client.read(9);
  if (head.size() < 9) return std::nullopt;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(head[at]); };
  const auto number = [&](std::size_t begin, std::size_t end) {
    std::uint32_t value = 0;
    for (auto at = begin; at < end; ++at) value = value << 8 | byte(at);
    return value;
  };
  Frame frame{byte(3), byte(4), number(5, 9), client.read(number(0, 3))};
  if (frame.type == headers_frame) frame.fields = fields_of(frame);  // of all: they share a table
  return frame;
}

std::map<std::string, std::string> FrameClient::fields_of(const Frame& frame) {
  std::map<std::string, std::string> fields;
  const auto* at = reinterpret_cast<const std::uint8_t*>(frame.payload.data());
  const auto* const end = at + frame.payload.size();
  for (int flags = 0; !(flags & NGHTTP2_HD_INFLATE_FINAL);) {
    nghttp2_nv field{};
    const auto used = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, at,
                                             static_cast<std::size_t>(end - at), 1);
    if (used < 0) break;
    at += used;
    if (flags & NGHTTP2_HD_INFLATE_EMIT)
      fields[{reinterpret_cast<const char*>(field.name), field.namelen}] = {
          reinterpret_cast<const char*>(field.value), field.valuelen};
  }
  nghttp2_hd_inflate_end_headers(inflater_);
  return fields;
}

CallEnd FrameClient::end_of(std::uint32_t stream) {
  CallEnd end;
  while (auto frame = next()) {
    if (frame->stream != stream) continue;
    if (const auto found = frame->fields.find("grpc-status"); found != frame->fields.end()) {
      end.status = std::stoi(found->second);
      end.message = frame->fields["grpc-message"];
    }
    if (frame->type == data_frame) end.answer += frame->payload;
    if (frame->type == reset_frame && end.status < 0)
      for (const char each : frame->payload)
        end.reset = end.reset << 8 | static_cast<std::uint8_t>(each);
    if (frame->type == reset_frame || (frame->type <= headers_frame && (frame->flags & end_stream)))
      return end;
  }
  return end;
}

CallEnd FrameClient::call(std::uint32_t stream, const std::string& method,
                          const std::string& message, const std::string& more) {
  begin(stream, method, more);
  constexpr std::size_t part = 16'384;
  const auto text = message_text(message);
  for (std::size_t at = 0; at < text.size(); at += part)
    send(frame_text(data_frame, at + part < text.size() ? 0 : end_stream, stream,
                    text.substr(at, part)));
  return end_of(stream);
}

}  // namespace polychron::server::tests
