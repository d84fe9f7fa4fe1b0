// A request of HTTP, and its reply.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <polychron/buffer.hpp>
#include <polychron/cancellation.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/json.hpp"
#include "protocol/target.hpp"

namespace polychron::server {

struct Route;

/// What decides, before the body has come, if it is wanted.
struct Header {
  std::string_view host;  ///< with its port; empty in HTTP/1.0 without Host
  std::optional<std::string_view> origin;
  std::string_view authorization;
  std::string_view content_encoding;
  std::string_view json_length;  ///< Inference-Header-Content-Length
  bool chunked = false;
  std::uint64_t length = 0;  ///< of the body; 0 if it is chunked
};

struct HttpRequest {
  std::string method;
  std::string target;
  Target parsed;
  std::string trace;  ///< traceparent
  std::string accept_encoding;
  const Route* route = nullptr;
  bool takes_chunks = true;                ///< HTTP/1.1
  bool compressed = false;                 ///< the body
  std::optional<std::size_t> json_length;  ///< of the body's JSON; absent: all of it
  Body body;
  Cancellation cancellation{};
};

struct HttpReply {
  Status status = Status::ok;
  std::string type = "application/json";
  std::string text;
  std::vector<Buffer> binary{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string message{};  ///< of a refusal, for the log
  std::string id{};       ///< of the request
  /// Of a stream, in place of a body: the next part once it is there, or nothing at the end. It is
  /// asked for the next part when the client's socket has taken this one.
  std::function<boost::asio::awaitable<std::string>()> parts{};

  /// The body's bytes.
  std::size_t size() const {
    auto size = text.size();
    for (const auto& each : binary) size += each.size();
    return size;
  }
};

/// A reply that refuses, in the form of the protocol that the path belongs to.
HttpReply refuse(const Refusal& refusal, std::string_view path);

}  // namespace polychron::server
