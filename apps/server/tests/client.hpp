// A client that sends any bytes at all, and blocks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace polychron::server::tests {

struct Response {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

class Client {
 public:
  /// From an address of this machine: all of 127.0.0.0/8 are.
  explicit Client(std::uint16_t port, const char* from = "127.0.0.1");
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// False if the server has closed the connection.
  bool send(std::string_view bytes);
  /// Nothing if the server closes the connection instead. `head` answers have no body.
  std::optional<Response> receive(bool head = false);
  /// So many bytes; fewer at the connection's end.
  std::string read(std::size_t bytes);
  /// True if the server has closed the connection; waits for more or for the end.
  bool ended();
  /// No more bytes from this side.
  void finish();
  /// Ends the connection at once, by a reset.
  void reset();

  Response get(const std::string& target, const std::string& headers = {});
  Response post(const std::string& target, std::string_view body, const std::string& headers = {});

 private:
  bool fill();
  bool receive_chunks(std::string& body);
  int socket_ = -1;
  std::string unread_;
};

/// A request's header.
std::string head_text(const std::string& method, const std::string& target,
                      const std::string& headers = {});

/// A whole POST.
std::string post_text(const std::string& target, std::string_view body,
                      const std::string& headers = {});

}  // namespace polychron::server::tests
