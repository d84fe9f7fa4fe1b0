// Attributes of operators from JSON, by the names of the operator table's fields.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ops/attributes.hpp"
#include "ops/row.hpp"
#include "tests/conformance/values.hpp"

namespace polychron::test {

inline void read(const json& value, bool& field) { field = value.get<bool>(); }
inline void read(const json& value, std::uint32_t& field) { field = value.get<std::uint32_t>(); }
inline void read(const json& value, std::int32_t& field) { field = value.get<std::int32_t>(); }
inline void read(const json& value, double& field) {
  field = std::visit([](auto v) { return static_cast<double>(v); }, number_of(value));
}
inline void read(const json& value, Number& field) { field = number_of(value); }
inline void read(const json& value, std::vector<std::uint32_t>& field) {
  field = value.get<std::vector<std::uint32_t>>();
}
inline void read(const json& value, std::vector<float>& field) {
  field = value.get<std::vector<float>>();
}
template <class E>
requires std::is_enum_v<E>
void read(const json& value, E& field) {
  const auto& names = ops::spellings<E>;
  const auto found = std::find(names.begin(), names.end(), value.get<std::string>());
  if (found == names.end()) throw std::runtime_error("no such value: " + value.dump());
  field = static_cast<E>(found - names.begin());
}
template <class E>
requires std::is_enum_v<E>
void read(const json& value, std::vector<E>& field) {
  for (const auto& item : value) read(item, field.emplace_back());
}
template <class T>
void read(const json& value, std::optional<T>& field) {
  read(value, field.emplace());
}

/// Sets the field that the specification calls `name`; false if there is none.
inline bool set_field(Attributes& attributes, std::string_view name, const json& value) {
  if (auto* split = std::get_if<SplitAttributes>(&attributes); split && name == "splits") {
    split->equal_parts = value.is_number();
    if (split->equal_parts) return split->splits = {value.get<std::uint32_t>()}, true;
  }
  bool found = false;
  std::visit(
      [&](auto& alternative) {
        ops::for_each_field(alternative, [&](std::string_view field_name, auto& field) {
          if (field_name != name) return;
          read(value, field);
          found = true;
        });
      },
      attributes);
  return found;
}

}  // namespace polychron::test
