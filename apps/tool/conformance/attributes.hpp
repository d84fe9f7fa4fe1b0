// Attributes of operators from JSON, by the names of the operator table's fields.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/tool/conformance/values.hpp"
#include "ops/row.hpp"
#include "polychron/attribute_fields.hpp"

namespace polychron::conformance {

inline void read(const json& value, bool& field) { field = flag_of(value); }
inline void read(const json& value, double& field) { field = real_of(value); }
inline void read(const json& value, float& field) { field = static_cast<float>(real_of(value)); }
inline void read(const json& value, Number& field) { field = number_of(value); }
inline void read(const json& value, std::string& field) { field = text_of(value); }
template <std::integral T>
requires(sizeof(T) < 8) void read(const json& value, T& field) {
  using Limits = std::numeric_limits<T>;
  field = static_cast<T>(integer_of(value, Limits::min(), Limits::max()));
}
template <class E>
requires std::is_enum_v<E>
void read(const json& value, E& field) {
  const auto& names = spellings<E>;
  const auto found = std::find(names.begin(), names.end(), text_of(value));
  if (found == names.end()) throw Malformed("there is no value " + excerpt(value));
  field = static_cast<E>(found - names.begin());
}
template <class T>
void read(const json& value, std::vector<T>& field) {
  if (!value.is_array()) throw Malformed("expected a list, found " + excerpt(value));
  field.clear();
  for (const auto& item : value) {
    T element{};
    read(item, element);
    field.push_back(std::move(element));
  }
}
template <class T>
void read(const json& value, std::optional<T>& field) {
  read(value, field.emplace());
}

/// Sets the field that the specification calls `name`; false if there is none. Throws Malformed.
inline bool set_field(Attributes& attributes, std::string_view name, const json& value) {
  if (auto* split = std::get_if<SplitAttributes>(&attributes); split && name == "splits") {
    split->equal_parts = value.is_number();
    if (split->equal_parts) return read(value, split->splits.emplace_back()), true;
  }
  bool found = false;
  std::visit(
      [&](auto& alternative) {
        for_each_field(alternative, [&](std::string_view field_name, auto& field) {
          if (field_name != name) return;
          read(value, field);
          found = true;
        });
      },
      attributes);
  return found;
}

}  // namespace polychron::conformance
