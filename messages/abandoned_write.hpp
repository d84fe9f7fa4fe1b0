// The outcome of a write whose caller stopped waiting for the device to take its bytes.
#pragma once

#include <string>
#include <string_view>

#include "messages/ids.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

inline constexpr std::string_view its_caller_gave_up = "its caller gave up waiting";

inline Error abandoned_write(const std::string& label, Ticket ticket) {
  return Error(ErrorKind::aborted, std::string(its_caller_gave_up))
      .with_operation("write", label, ticket)
      .not_run();
}

}  // namespace polychron::msg
