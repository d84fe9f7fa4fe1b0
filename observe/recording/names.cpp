#include "observe/recording/names.hpp"

#include <type_traits>

#include "messages/names.hpp"
#include "ops/table.hpp"

namespace polychron::recording {

namespace {

template <class... Ts>
std::vector<std::string> names_of(std::type_identity<std::variant<Ts...>>) {
  return {Ts::name...};
}

template <class... Ts>
std::vector<std::string> message_names(std::type_identity<std::variant<const Ts*...>>) {
  return {msg::name_of_message<Ts>()...};
}

template <class... Messages>
void add(std::vector<std::string>& receivers, const char* kind, msg::MessageList<Messages...>) {
  receivers.insert(receivers.end(), sizeof...(Messages), kind);
}

Names make() {
  Names names{message_names(std::type_identity<msg::MessageView>{}),
              {},
              names_of(std::type_identity<msg::Call>{}),
              names_of(std::type_identity<msg::Operation>{}),
              names_of(std::type_identity<msg::Outcome>{}),
              {}};
  for (const auto& row : ops::rows()) names.operators.emplace_back(row.name);
  // In the order of msg::MessageView.
  add(names.receivers, "context", msg::messages_of<context_actor>{});
  add(names.receivers, "device", msg::messages_of<device_actor>{});
  add(names.receivers, "tensor", msg::messages_of<tensor_actor>{});
  add(names.receivers, "graph", msg::messages_of<graph_actor>{});
  add(names.receivers, "compiler", msg::messages_of<compiler_actor>{});
  return names;
}

}  // namespace

const Names& names() {
  static const Names table = make();
  return table;
}

}  // namespace polychron::recording
