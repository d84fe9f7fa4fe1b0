// What becomes of a write whose caller does not wait any longer for its bytes to be taken.
#pragma once

#include <string>
#include <string_view>

#include "messages/ids.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

inline constexpr std::string_view its_caller_gave_up = "its caller gave up waiting";

inline Error gave_up(const std::string& label, Ticket ticket) {
  return Error(ErrorKind::aborted, std::string(its_caller_gave_up))
      .with_operation("write", label, ticket)
      .not_run();
}

}  // namespace polychron::msg
