#include "client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace polychron::server::tests {

Client::Client(std::uint16_t port, const char* from)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = ::inet_addr(from);
  const int late = 1;  // connect() chooses the port
  ::setsockopt(socket_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof(late));
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof(own)) != 0)
    throw std::runtime_error(std::string("cannot connect from ") + from);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0)
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
}

Client::~Client() { ::close(socket_); }

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::fill() {
  char bytes[64 * 1024];
  const auto got = ::recv(socket_, bytes, sizeof(bytes), 0);
  if (got <= 0) return false;
  unread_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

std::optional<Response> Client::receive(bool head) {
  std::size_t end = 0;
  while ((end = unread_.find("\r\n\r\n")) == std::string::npos)
    if (!fill()) return std::nullopt;
  Response response;
  response.status = std::stoi(unread_.substr(9, 3));
  std::size_t at = unread_.find("\r\n") + 2;
  while (at < end) {
    const auto colon = unread_.find(':', at), stop = unread_.find("\r\n", at);
    auto name = unread_.substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    response.headers[name] = unread_.substr(colon + 2, stop - colon - 2);
    at = stop + 2;
  }
  unread_.erase(0, end + 4);
  if (response.status == 100) return receive(head);
  if (response.headers.contains("transfer-encoding")) {
    if (!receive_chunks(response.body)) return std::nullopt;
    return response;
  }
  const auto length = head ? 0 : std::stoul(response.headers.at("content-length"));
  while (unread_.size() < length)
    if (!fill()) return std::nullopt;
  response.body = unread_.substr(0, length);
  unread_.erase(0, length);
  return response;
}

bool Client::receive_chunks(std::string& body) {
  for (;;) {
    std::size_t end = 0;
    while ((end = unread_.find("\r\n")) == std::string::npos)
      if (!fill()) return false;
    const auto size = std::stoul(unread_.substr(0, end), nullptr, 16);
    const auto all = end + 2 + size + 2;
    while (unread_.size() < all)
      if (!fill()) return false;
    body += unread_.substr(end + 2, size);
    unread_.erase(0, all);
    if (size == 0) return true;
  }
}

std::string Client::read(std::size_t bytes) {
  while (unread_.size() < bytes && fill()) {
  }
  auto text = unread_.substr(0, bytes);
  unread_.erase(0, bytes);
  return text;
}

bool Client::ended() { return unread_.empty() && !fill(); }

void Client::finish() { ::shutdown(socket_, SHUT_WR); }

void Client::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  ::close(socket_);
  socket_ = -1;
}

Response Client::get(const std::string& target, const std::string& headers) {
  send(head_text("GET", target, headers));
  return receive().value();
}

Response Client::post(const std::string& target, std::string_view body,
                      const std::string& headers) {
  send(post_text(target, body, headers));
  return receive().value();
}

std::string head_text(const std::string& method, const std::string& target,
                      const std::string& headers) {
  return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

std::string post_text(const std::string& target, std::string_view body,
                      const std::string& headers) {
  const auto length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return head_text("POST", target, length + headers) + std::string(body);
}

}  // namespace polychron::server::tests
