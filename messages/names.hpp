// What messages are called, for people.
#pragma once

#include <string>

namespace polychron::msg {

/// "carry_out" of polychron::msg::carry_out.
template <class Message>
std::string name_of_message() {
  std::string name = __PRETTY_FUNCTION__;
  const auto end = name.find_first_of(";]", name.find("Message = "));
  const auto begin = name.rfind(':', end) + 1;
  return name.substr(begin, end - begin);
}

}  // namespace polychron::msg
