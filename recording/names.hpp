// What the numbers of messages, calls and operations in records are called. A file has these
// tables in it, so that it can be read by a library in which they are others.
#pragma once

#include <string>
#include <vector>

#include "messages/observer.hpp"

namespace polychron::recording {

struct Names {
  std::vector<std::string> messages;    ///< "carry_out", by the place in msg::MessageView
  std::vector<std::string> receivers;   ///< the kind of actor that takes it: "device"
  std::vector<std::string> calls;       ///< by the place in msg::Call
  std::vector<std::string> operations;  ///< by the place in msg::Operation
  std::vector<std::string> outcomes;    ///< by the place in msg::Outcome
  std::vector<std::string> operators;   ///< by ops::OpId
};

/// This library's.
const Names& names();

}  // namespace polychron::recording
