// The names of messages and of their contents, for people.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

namespace polychron::msg {

/// "carry_out" of polychron::msg::carry_out.
template <class Message>
std::string name_of_message() {
  // "... [with Message = polychron::msg::carry_out; ...]": compilers qualify names differently.
  std::string name = __PRETTY_FUNCTION__;
  name.erase(0, name.find("Message = ") + std::string("Message = ").size());
  name.erase(std::min(name.size(), name.find_first_of(";,]")));
  return name.substr(name.rfind(':') + 1);
}

/// The same, for the message that the variant points to.
template <class... Messages>
std::string name_of(const std::variant<const Messages*...>& message) {
  return std::visit([]<class M>(const M*) { return name_of_message<M>(); }, message);
}

/// The caller's label of an operation or a call, or "".
template <class... Kinds>
std::string_view label_of(const std::variant<Kinds...>& variant) {
  return std::visit(
      [](const auto& alternative) -> std::string_view {
        if constexpr (requires { alternative.label; })
          return alternative.label;
        else
          return {};
      },
      variant);
}

}  // namespace polychron::msg
