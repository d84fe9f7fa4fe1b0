// Errors of the server as values: a status, one line that names the thing, and when to try again.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <polychron/error.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace polychron::server {

/// HTTP's numbers. gRPC's codes follow from them (grpc/messages.cpp).
enum class Status : std::uint16_t {
  ok = 200,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  not_allowed = 405,
  too_slow = 408,  ///< the request did not arrive in time
  too_large = 413,
  bad_encoding = 415,
  too_many = 429,   ///< the model's queue is full
  headers = 431,    ///< header fields too large
  cancelled = 499,  ///< the client has gone; nobody sees it except the log
  internal = 500,
  unsupported = 501,
  unavailable = 503,  ///< the server's limits, not ready, or draining
  deadline = 504      ///< the request's own timeout
};

/// "Bad Request": the phrase of HTTP's status line.
std::string_view phrase(Status status) noexcept;

/// A request that is not answered with a result.
class Refusal : public std::exception {
 public:
  Refusal(Status status, std::string message, std::optional<int> retry_after_s = std::nullopt,
          std::string field = {})
      : status_(status),
        message_(std::move(message)),
        retry_after_s_(retry_after_s),
        field_(std::move(field)) {}
  Status status() const noexcept { return status_; }
  const std::string& message() const noexcept { return message_; }
  std::optional<int> retry_after_s() const noexcept { return retry_after_s_; }
  /// The field of the request that it is about, where OpenAI's form of errors names one.
  const std::string& field() const noexcept { return field_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Status status_;
  std::string message_;
  std::optional<int> retry_after_s_;
  std::string field_;
};

/// What a client sent is wrong: throws Refusal.
[[noreturn]] void bad_request(const std::string& message);

/// What the server's user wrote is wrong: throws Error(bad_data).
[[noreturn]] void bad_data(const std::string& message);

/// The status of an error of the library that a checked request met: a wrong argument is then the
/// client's only if `of_request`.
Refusal refusal_of(const Error& error, bool of_request = false);

/// "the body has 2.0 MiB, at most 1.0 MiB".
Refusal too_large(std::string_view what, std::uint64_t size, std::uint64_t most);

/// The exception that is being handled, as a refusal. Call it in a catch clause. A Refusal names
/// its object; the text of any other exception gets `label` in front, unless it has it.
Refusal current_refusal(std::string_view label = {}, bool of_request = false) noexcept;

/// A value, or the refusal that came instead.
template <class T>
struct Refusable : std::variant<T, Refusal> {
  using std::variant<T, Refusal>::variant;
  /// Throws the refusal.
  T& value() {
    if (const auto* refusal = std::get_if<Refusal>(this)) throw Refusal(*refusal);
    return std::get<T>(*this);
  }
};

bool is_utf8(std::string_view text);

/// `text` for messages: control characters and bytes that are not UTF-8 become '?', and a long text
/// ends in "...".
std::string printable(std::string_view text, std::size_t most = 200);

}  // namespace polychron::server
