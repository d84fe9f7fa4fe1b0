// The names of the numbers of messages, calls and operations in records. A file contains these
// tables, so that another version of the library with other numbers can read it.
#pragma once

#include <string>
#include <vector>

#include "messages/observer.hpp"

namespace polychron::recording {

struct Names {
  std::vector<std::string> messages;    ///< "carry_out", by index in msg::MessageView
  std::vector<std::string> receivers;   ///< the kind of actor that receives it: "device"
  std::vector<std::string> calls;       ///< by index in msg::Call
  std::vector<std::string> operations;  ///< by index in msg::Operation
  std::vector<std::string> outcomes;    ///< by index in msg::Outcome
  std::vector<std::string> operators;   ///< by ops::OpId
};

/// The tables of this library.
const Names& names();

}  // namespace polychron::recording
