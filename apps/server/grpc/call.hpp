// A call of gRPC.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <polychron/cancellation.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "grpc/message_reader.hpp"
#include "http/deadline.hpp"
#include "http/shared.hpp"

namespace polychron::server {

struct Method;

/// From its first header to the last byte of its answer. Of its connection's executor; while it
/// runs, of the coroutine that answers it.
struct Call {
  Call(int number, const HttpShared& shared)
      : stream(number), share(shared.service.budget), transfer(shared.options.transfer_timeout) {}

  const int stream;  ///< HTTP/2's number
  struct Header {
    std::string verb, path, content_type, authorization;
  };
  std::optional<Header> header{std::in_place};  ///< until it has been checked
  std::string encoding, trace;
  std::size_t header_bytes = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const Method* method = nullptr;

  enum class State { receiving, running, sending };
  State state = State::receiving;
  BudgetShare share;  ///< of the budget: the parsed message, then the answer
  Transfer transfer;  ///< of the message, then of the answer
  std::optional<MessageReader> reader;
  Body message;

  std::string answer;  ///< with its prefix; of a watched call, what is not sent yet
  std::size_t sent = 0;
  std::optional<bool> seen;  ///< by a client that watches: what it knows of the server's health
  Cancellation cancellation{};
};

/// Five bytes for the prefix of a message that follows.
inline std::string begin_message() { return std::string(5, '\0'); }

/// Writes the length of a message into its prefix.
inline void end_message(std::string& message, std::size_t begin = 0) {
  auto length = message.size() - begin - 5;
  for (std::size_t i = 4; i > 0; --i, length >>= 8)
    message[begin + i] = static_cast<char>(length & 0xFF);
}

}  // namespace polychron::server
