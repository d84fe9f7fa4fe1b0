// Vectors of texts from sentence models: OpenAI's endpoint.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "http/request.hpp"
#include "http/shared.hpp"

namespace polychron::server {

boost::asio::awaitable<HttpReply> embed(HttpShared& shared, HttpRequest& request);

}  // namespace polychron::server
