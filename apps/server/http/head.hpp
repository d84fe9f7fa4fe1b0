// What a request's head must have, and what web pages of others may not ask for.
// Source: RFC 9112, sections 3.2 (Host and the target) and 6.1 (Transfer-Encoding).
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <optional>
#include <string_view>

#include "http/options.hpp"

namespace polychron::server {

using RequestHead = boost::beast::http::request_header<>;

/// Whom a request asks, and for what. Parts of its head.
struct Addressee {
  std::string_view host;  ///< with its port; empty in HTTP/1.0 without Host
  std::string_view path;  ///< and query
};

/// Throws Refusal (bad_request, unsupported) if the framing or the host is not as the standard has
/// it. `chunked`: the last transfer coding is chunked.
Addressee addressee_of(const RequestHead& head, bool chunked);

/// Throws Refusal (forbidden) if a browser most likely sends this for a page of another server: by
/// its Origin; or, where the request shows or changes the server itself, by a Host that is not this
/// server's, because somebody else's name was made to lead here (DNS rebinding).
void refuse_foreign_pages(const HttpOptions& options, std::optional<std::string_view> origin,
                          std::string_view host, bool is_for_operators);

}  // namespace polychron::server
