// Error scopes, as in WebGPU (https://www.w3.org/TR/webgpu/#error-scopes), on a timeline where
// errors come late. A scope is an interval of tickets. It takes errors until every lane has done
// the operations in that interval.
#pragma once

#include <limits>
#include <list>
#include <optional>

#include "messages/ids.hpp"
#include "messages/shared/admission.hpp"
#include "polychron/error_filter.hpp"
#include "polychron/future.hpp"

namespace polychron::actors {

class ErrorScopes {
 public:
  /// `last_ticket` is the latest that was issued before the call. `permit` is the scope's.
  void push(ErrorFilter filter, msg::Ticket last_ticket, msg::Permit permit) {
    scopes_.push_back({filter, last_ticket + 1, open, std::nullopt, 0, 0, {}, std::move(permit)});
  }
  /// Closes the innermost open scope and gives its first ticket, or nullopt if there is none. The
  /// scope settles `reply` once passed() was called `lanes` times with `fence`.
  std::optional<msg::Ticket> pop(msg::Ticket last_ticket, std::uint64_t fence, std::size_t lanes,
                                 Promise<std::optional<Error>> reply);
  void passed(std::uint64_t fence);
  /// Gives an error to the innermost scope that contains it and whose filter takes it. The error is
  /// of an operation, or of a call without one (ticket 0). False if there is no scope for it.
  bool take(const Error& error, msg::Ticket ticket);

 private:
  static constexpr auto open = std::numeric_limits<msg::Ticket>::max();
  struct Scope {
    ErrorFilter filter;
    msg::Ticket first, last;  ///< tickets of its operations; last is `open` before pop
    std::optional<Error> error;
    std::uint64_t fence;
    std::size_t lanes_left;
    Promise<std::optional<Error>> reply;
    msg::Permit permit;
  };
  std::list<Scope> scopes_;  ///< in order of push: an inner scope follows its outer one
};

}  // namespace polychron::actors
