// Text from language models: OpenAI's endpoints, whole answers and streams.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "http/request.hpp"
#include "http/shared.hpp"

namespace polychron::server {

HttpReply listed_models(HttpShared& shared, const HttpRequest& request);
HttpReply listed_model(HttpShared& shared, const HttpRequest& request);
boost::asio::awaitable<HttpReply> complete_chat(HttpShared& shared, HttpRequest& request);
boost::asio::awaitable<HttpReply> complete_prompt(HttpShared& shared, HttpRequest& request);

}  // namespace polychron::server
