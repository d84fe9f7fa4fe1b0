// Error scopes, as in WebGPU (https://www.w3.org/TR/webgpu/#error-scopes), on a timeline where
// errors come late: a scope is an interval of tickets, and stays open for errors until the device
// has passed it.
#pragma once

#include <functional>
#include <limits>
#include <list>
#include <optional>

#include "messages/ids.hpp"
#include "polychron/context.hpp"

namespace polychron::actors {

class ErrorScopes {
 public:
  /// `last_ticket`: the latest that was issued before the call.
  void push(ErrorFilter filter, msg::Ticket last_ticket) {
    scopes_.push_back({filter, last_ticket + 1, open, std::nullopt, 0, 0, {}});
  }
  /// Ends the innermost open scope. It settles `reply` when passed() was called `lanes` times with
  /// `fence`. False if there is none.
  bool pop(msg::Ticket last_ticket, std::uint64_t fence, std::size_t lanes,
           Promise<std::optional<Error>> reply);
  void passed(std::uint64_t fence);
  /// Gives an error of an operation, or of a call without one (ticket 0), to the innermost scope
  /// that contains it and takes it, else to the handler.
  void take(const Error& error, msg::Ticket ticket);
  void set_handler(std::function<void(const Error&)> handler) { handler_ = std::move(handler); }

 private:
  static constexpr auto open = std::numeric_limits<msg::Ticket>::max();
  struct Scope {
    ErrorFilter filter;
    msg::Ticket first, last;  ///< tickets of its operations; last is `open` before pop
    std::optional<Error> error;
    std::uint64_t fence;
    std::size_t lanes_left;
    Promise<std::optional<Error>> reply;
  };
  std::list<Scope> scopes_;  ///< in order of their pushes: an inner one comes after its outer one
  std::function<void(const Error&)> handler_;
};

}  // namespace polychron::actors
