// A client of gRPC that sends any frames at all, and blocks.
// Source: RFC 9113 (HTTP/2), sections 4.1 and 6; RFC 7541 (HPACK), section 6.2.2.
#pragma once

#include <nghttp2/nghttp2.h>

#include <map>
#include <optional>
#include <string>

#include "client.hpp"

namespace polychron::server::tests {

enum FrameType : std::uint8_t {
  data_frame = 0,
  headers_frame = 1,
  reset_frame = 3,
  settings_frame = 4,
  ping_frame = 6,
  goaway_frame = 7,
  window_frame = 8,
  continuation_frame = 9
};

struct Frame {
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;
  std::map<std::string, std::string> fields{};  ///< of headers
};

constexpr std::uint8_t end_stream = 1, end_headers = 4;

std::string frame_text(FrameType type, std::uint8_t flags, std::uint32_t stream,
                       const std::string& payload = {});
/// A header field as HPACK writes it, without any table.
std::string field_text(const std::string& name, const std::string& value);
/// The fields that begin a call, and `more`.
std::string call_fields(const std::string& method, const std::string& more = {});
/// A message with its prefix.
std::string message_text(const std::string& message);
std::string prefix_text(std::size_t length);
std::string number_text(std::uint32_t number);

const std::string infer_method = "/inference.GRPCInferenceService/ModelInfer";
const std::string live_method = "/inference.GRPCInferenceService/ServerLive";

/// How a call ended.
struct CallEnd {
  int status = -1;  ///< gRPC's; -1: by a reset, or with the connection
  std::uint32_t reset = 0;
  std::string message;
  std::string answer;  ///< with its prefix
};

class FrameClient {
 public:
  /// `window`: so many bytes of answers the server may send before the client gives it more.
  explicit FrameClient(std::uint16_t port, std::uint32_t window = (1U << 31) - 1);
  ~FrameClient();
  FrameClient(const FrameClient&) = delete;
  FrameClient& operator=(const FrameClient&) = delete;

  bool send(const std::string& frames) { return client.send(frames); }
  /// Begins a call. Its message follows, unless `flags` end the stream.
  void begin(std::uint32_t stream, const std::string& method, const std::string& more = {},
             std::uint8_t flags = 0);
  /// Nothing at the connection's end.
  std::optional<Frame> next();
  /// Reads frames until the stream ends.
  CallEnd end_of(std::uint32_t stream);
  /// A whole call.
  CallEnd call(std::uint32_t stream, const std::string& method, const std::string& message = {},
               const std::string& more = {});

  Client client;

 private:
  std::map<std::string, std::string> fields_of(const Frame& frame);
  nghttp2_hd_inflater* inflater_ = nullptr;
};

}  // namespace polychron::server::tests
