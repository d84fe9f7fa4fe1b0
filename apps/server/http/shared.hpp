// What the files of http/ share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/service.hpp"
#include "core/worker.hpp"
#include "http/connections.hpp"
#include "http/options.hpp"
#include "http/request.hpp"

namespace polychron::server {

/// Shared by both transports' listeners and all connections.
struct HttpShared {
  HttpShared(HttpOptions of_server, Service& of_all)
      : options(std::move(of_server)),
        service(of_all),
        connections({options.connections, options.connections_of_address}) {}
  const HttpOptions options;
  Service& service;
  Connections connections;
  Worker worker;
};

/// What a body may have once it is plain: all of it is JSON, or its first part.
inline std::uint64_t most_plain(const HttpOptions& options, const HttpRequest& request) {
  return request.json_length ? options.body_bytes
                             : std::min(options.body_bytes, options.json_bytes);
}

}  // namespace polychron::server
