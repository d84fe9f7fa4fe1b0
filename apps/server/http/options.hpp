// What both transports may be told.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <polychron/future.hpp>
#include <string>
#include <vector>

#include "core/viewer.hpp"

namespace polychron::server {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;                 ///< 0: a free one
  std::size_t connections = 1024;            ///< of both transports
  std::size_t connections_of_address = 512;  ///< of them, those of one client's address
  std::size_t requests_per_connection = 1'000'000;
  std::size_t header_bytes = 16 * 1024;
  std::uint64_t body_bytes = std::uint64_t{64} << 20;
  std::uint64_t json_bytes = std::uint64_t{16} << 20;
  std::chrono::seconds header_timeout{10};  ///< from a request's first byte to its last header
  std::chrono::seconds idle_timeout{60};    ///< between requests
  /// For each 64 KiB of a body or an answer. On the whole, 64 KiB pass each second.
  std::chrono::seconds transfer_timeout{30};
  std::string certificate, key, client_ca;  ///< files; TLS if there is a certificate
  std::vector<std::string> hosts;           ///< names of this server for browsers; "*": any
  bool page = true;                         ///< the page at /, and what it shows
  /// The bytes of the recording for /recording; empty: there is none.
  std::function<std::vector<std::byte>()> recording;
  /// A page of it for /recording/view.
  std::function<Future<Viewer::Page>()> view;
};

}  // namespace polychron::server
