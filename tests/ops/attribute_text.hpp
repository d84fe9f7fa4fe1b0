// Attributes of the operator table's rows as text, which tests compare with the specification's.
#pragma once

#include <map>
#include <regex>
#include <string>
#include <variant>

#include "ops/row.hpp"
#include "polychron/attribute_fields.hpp"

namespace polychron::test {

/// Attributes by name: their default as text, "" for one without, "required" for an argument.
using Defaults = std::map<std::string, std::string>;

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_enum_v<T>)
    return std::string(spellings<T>[static_cast<std::size_t>(value)]);
  else if constexpr (std::is_arithmetic_v<T>)
    return std::to_string(static_cast<double>(value));
  else if constexpr (std::is_same_v<T, Number>)
    return text_of(std::get<double>(value));
  else
    return "";  // an optional one, or a list, whose default is in the specification's text
}

/// Numbers as text_of() writes them.
inline std::string normalized(const std::string& text) {
  return std::regex_match(text, std::regex(R"(-?[0-9][0-9.e-]*)")) ? text_of(std::stod(text))
                                                                   : text;
}

template <std::size_t I = 0>
Defaults attributes_of(const ops::Row& row) {
  if constexpr (I < std::variant_size_v<Attributes>) {
    if (I != row.attributes) return attributes_of<I + 1>(row);
    using A = std::variant_alternative_t<I, Attributes>;
    Defaults all;
    const A defaults{};
    for_each_field(defaults, [&](std::string_view name, const auto& value) {
      all[std::string(name)] = is_required<A>(name) ? "required" : text_of(value);
    });
    return all;
  } else {
    return {};
  }
}

inline std::string show(const Defaults& defaults) {
  std::string text;
  for (const auto& [name, value] : defaults) text += name + " = " + normalized(value) + "; ";
  return text;
}

}  // namespace polychron::test
