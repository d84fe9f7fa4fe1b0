// The routes of HTTP, in one table.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string_view>

#include "http/request.hpp"
#include "http/shared.hpp"

namespace polychron::server {

enum class Method { get, post, either };

enum class Audience {
  clients,
  operators,  ///< it shows or changes the server itself
  probes      ///< of orchestrators: they have no token, and learn nothing
};

struct Route {
  Method method;          ///< of `get` also HEAD; only a POST has a body
  std::string_view path;  ///< as Target has it
  boost::asio::awaitable<HttpReply> (*answer)(HttpShared&, HttpRequest&);
  Audience audience = Audience::clients;
};

/// Finds the request's route, and refuses all that can be refused before its body has come: a body
/// takes no memory until then. Throws Refusal.
void check_header(HttpShared& shared, const Header& header, HttpRequest& request);

/// Answers the request. Never throws.
boost::asio::awaitable<HttpReply> answer(HttpShared& shared, HttpRequest& request);

}  // namespace polychron::server
