#include "http/head.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>

namespace polychron::server {

namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;

/// The values of a field that may stand several times, as one list.
std::string joined(const RequestHead& head, http::field name) {
  std::string all;
  const auto [first, last] = head.equal_range(name);
  for (auto at = first; at != last; ++at)
    all += (at == first ? "" : ", ") + std::string(at->value());
  return all;
}

std::string_view trimmed(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

void check_coding(const RequestHead& head, bool chunked) {
  if (head.count(http::field::transfer_encoding) == 0) return;
  const auto coding = joined(head, http::field::transfer_encoding);
  if (head.version() < 11) bad_request("Transfer-Encoding in HTTP/1.0");
  // Another server in front of this one might see the end of this body elsewhere.
  const auto last = trimmed(std::string_view(coding).substr(coding.rfind(',') + 1));
  if (!chunked || !iequals(last, "chunked"))
    bad_request("Transfer-Encoding: expected chunked at its end");
  if (!iequals(trimmed(coding), "chunked"))
    throw Refusal(Status::unsupported,
                  "Transfer-Encoding '" + printable(coding, 40) + "': expected chunked alone");
}

/// "http://host:8000/path" in its parts; "/path" has no host.
Addressee split(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!iequals(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const auto end = std::min(target.find('/'), target.size());
    if (end == 0) bad_request("the target has no host");
    return {target.substr(0, end), end < target.size() ? target.substr(end) : "/"};
  }
  return {{}, target};
}

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool is_named(const HttpOptions& options, std::string_view name) {
  return std::any_of(options.hosts.begin(), options.hosts.end(),
                     [&](const auto& each) { return each == "*" || iequals(each, name); });
}

/// A number is nobody's name, and "localhost" is everybody's own. Behind a service or a balancer
/// the names are not known, unless they were given.
bool is_own(const HttpOptions& options, std::string_view host) {
  boost::system::error_code failed;
  const auto is_number = [&](std::string_view text) {
    boost::asio::ip::make_address(text, failed);
    return !failed;
  };
  const auto name = without_port(host);
  if (host.empty() || is_number(name) || iequals(name, "localhost") || is_named(options, name))
    return true;
  const auto address = boost::asio::ip::make_address(options.address, failed);
  return options.hosts.empty() && !failed && !address.is_loopback();
}

}  // namespace

Addressee addressee_of(const RequestHead& head, bool chunked) {
  check_coding(head, chunked);
  const auto hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() >= 11))
    bad_request("expected one header field Host, got " + std::to_string(hosts));
  auto to = split(head.target());
  if (to.host.empty()) to.host = head[http::field::host];
  if (to.host.find_first_of(" \t,/@?#\\") != std::string_view::npos)
    bad_request("Host '" + printable(to.host, 80) + "': expected a name or an address, and a port");
  return to;
}

void refuse_foreign_pages(const HttpOptions& options, std::optional<std::string_view> origin,
                          std::string_view host, bool is_for_operators) {
  if (origin) {
    const auto from = split(*origin).host;
    const bool is_ours = !from.empty() && iequals(from, host);
    if (!is_ours && !is_named(options, without_port(from)))
      throw Refusal(Status::forbidden, "a page of '" + printable(*origin, 80) +
                                           "' may not use this server; --hosts can allow it");
  }
  if (is_for_operators && !is_own(options, host))
    throw Refusal(Status::forbidden, "'" + printable(without_port(host), 80) +
                                         "' is not known as a name of this server; --hosts can "
                                         "make it one");
}

}  // namespace polychron::server
