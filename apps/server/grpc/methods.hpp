// The methods of gRPC, in one table.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <span>
#include <string>

#include "grpc/call.hpp"

namespace polychron::server {

struct Method {
  std::string_view path;
  /// Gives the answer, with its prefix. Null: the call watches the server's health until it ends.
  boost::asio::awaitable<std::string> (*answer)(HttpShared&, Call&);
  /// Probes need no token, and nothing of the budget. Only a body may be large.
  enum class Kind { probe, small, body };
  Kind kind = Kind::small;
};

/// Finds the call's method, and refuses all that its header refuses. Throws Refusal.
void check_header(HttpShared& shared, const Call::Header& header, Call& call);

/// The server's health, which a call asks for. Throws Refusal (not_found): another service's.
bool check_watch(HttpShared& shared, Call& call);

/// grpc.health.v1's answer, with its prefix.
std::string health_message(bool is_ready);

}  // namespace polychron::server
