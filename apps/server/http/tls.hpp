// TLS for both transports.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "http/options.hpp"

namespace polychron::server {

/// For connections that speak `protocol`: "http/1.1", or "h2" which clients have to offer. Null if
/// there is no certificate. Throws Error (bad_data): a file.
std::shared_ptr<boost::asio::ssl::context> tls_of(const HttpOptions& options, const char* protocol);

}  // namespace polychron::server
