#include "protocol/refusal.hpp"

#include <new>

namespace polychron::server {

std::string_view phrase(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "OK";
    case Status::bad_request:
      return "Bad Request";
    case Status::unauthorized:
      return "Unauthorized";
    case Status::forbidden:
      return "Forbidden";
    case Status::not_found:
      return "Not Found";
    case Status::not_allowed:
      return "Method Not Allowed";
    case Status::too_slow:
      return "Request Timeout";
    case Status::too_large:
      return "Payload Too Large";
    case Status::bad_encoding:
      return "Unsupported Media Type";
    case Status::too_many:
      return "Too Many Requests";
    case Status::headers:
      return "Request Header Fields Too Large";
    case Status::cancelled:
      return "Client Closed Request";
    case Status::internal:
      return "Internal Server Error";
    case Status::unsupported:
      return "Not Implemented";
    case Status::unavailable:
      return "Service Unavailable";
    case Status::deadline:
      return "Gateway Timeout";
  }
  return "Error";
}

void bad_request(const std::string& message) { throw Refusal(Status::bad_request, message); }

void bad_data(const std::string& message) { throw Error(ErrorKind::bad_data, message); }

Refusal refusal_of(const Error& error, bool of_request) {
  const std::string text = error.what();
  switch (error.kind()) {
    case ErrorKind::quota_exceeded:
      return {Status::too_many, text, 1};
    case ErrorKind::timed_out:
      return {Status::deadline, text};
    case ErrorKind::aborted:
      return {Status::cancelled, text};
    case ErrorKind::out_of_memory:
    case ErrorKind::context_lost:
    case ErrorKind::invalid_state:
      return {Status::unavailable, text, 1};
    case ErrorKind::type_error:
    case ErrorKind::bad_data:
      return {of_request ? Status::bad_request : Status::internal, text};
    case ErrorKind::not_supported:
      return {of_request ? Status::unsupported : Status::internal, text};
    case ErrorKind::operation_error:
      // A run that failed says why in its chain: the root decides.
      if (const Error& root = error.root(); root.kind() != ErrorKind::operation_error)
        return {refusal_of(root, false).status(), text, refusal_of(root, false).retry_after_s()};
      return {Status::internal, text};
    case ErrorKind::graph_invalid:
    case ErrorKind::internal:
      break;
  }
  return {Status::internal, text};
}

Refusal too_large(std::string_view what, std::uint64_t size, std::uint64_t most) {
  return {Status::too_large,
          std::string(what) + " has " + describe_bytes(size) + ", at most " + describe_bytes(most)};
}

namespace {

Refusal named(const Refusal& refusal, std::string_view label) {
  if (label.empty() || refusal.message().find(label) != std::string::npos) return refusal;
  return {refusal.status(), std::string(label) + ": " + refusal.message(), refusal.retry_after_s()};
}

}  // namespace

Refusal current_refusal(std::string_view label, bool of_request) noexcept try {
  try {
    throw;
  } catch (const Refusal& refusal) {
    return refusal;
  } catch (const Error& error) {
    return named(refusal_of(error, of_request), label);
  } catch (const std::bad_alloc&) {
    return named({Status::unavailable, "out of memory", 1}, label);
  } catch (const std::exception& error) {
    return named({Status::internal, error.what()}, label);
  } catch (...) {  // of code
    return named({Status::internal, "an exception without a text"}, label);
  }
} catch (const std::bad_alloc&) {
  return {Status::unavailable, "out of memory", 1};  // short enough to need none
}

namespace {

/// The length of the valid UTF-8 sequence at the beginning of `text`, or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90))
    return 0;
  return length;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string clean;
  while (!text.empty()) {
    if (clean.size() >= most) return clean + "...";
    const auto length = utf8_length(text);
    const bool shown = length > 1 || (length == 1 && text[0] >= ' ' && text[0] != 0x7F);
    if (shown)
      clean += text.substr(0, length);
    else
      clean += '?';
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

}  // namespace polychron::server
