// What messages are called, for people.
#pragma once

#include <algorithm>
#include <string>

namespace polychron::msg {

/// "carry_out" of polychron::msg::carry_out.
template <class Message>
std::string name_of_message() {
  // "... [with Message = polychron::msg::carry_out; ...]": compilers differ in what they qualify.
  std::string name = __PRETTY_FUNCTION__;
  name.erase(0, name.find("Message = ") + std::string("Message = ").size());
  name.erase(std::min(name.size(), name.find_first_of(";,]")));
  return name.substr(name.rfind(':') + 1);
}

}  // namespace polychron::msg
