#include "attributes.hpp"

#include <algorithm>
#include <optional>
#include <polychron/attribute_fields.hpp>
#include <type_traits>
#include <vector>

#include "errors.hpp"

namespace binding {

using namespace polychron;

namespace {

template <class T>
requires std::is_arithmetic_v<T>
void read(nb::handle value, T& field) { field = nb::cast<T>(value); }

void read(nb::handle value, Number& field) { field = number(value); }

template <class E>
requires std::is_enum_v<E>
void read(nb::handle value, E& field) {
  const std::string_view word = nb::cast<const char*>(value);
  const auto found = std::ranges::find(spellings<E>, word);
  if (found == spellings<E>.end()) throw nb::cast_error();
  field = static_cast<E>(found - spellings<E>.begin());
}

template <class T>
void read(nb::handle value, std::vector<T>& field) {
  if (PySequence_Check(value.ptr()) == 0 || PyUnicode_Check(value.ptr()) != 0)
    throw nb::cast_error();
  field.clear();
  for (const nb::handle each : value) read(each, field.emplace_back());
}

template <class T>
void read(nb::handle value, std::optional<T>& field) {
  read(value, field.emplace());
}

template <class T>
std::string words_of(const T& /*field*/) {
  return {};
}
template <class E>
requires std::is_enum_v<E> std::string words_of(const E& /*field*/) {
  std::string words = ": one of";
  for (const auto word : spellings<E>) words += " '" + std::string(word) + "'";
  return words;
}

}  // namespace

Number number(nb::handle value) {
  if (PyLong_Check(value.ptr()) == 0) return nb::cast<double>(value);
  int overflow = 0;
  const auto with_sign = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow == 0) return static_cast<std::int64_t>(with_sign);
  if (std::uint64_t without = 0; nb::try_cast(value, without)) return without;
  const double rounded = PyLong_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return rounded;
}

Attributes attributes(const std::string& operation, const nb::dict& given) {
  auto result = default_attributes(operation);
  // A number alone is a number of equal parts.
  if (auto* split = std::get_if<SplitAttributes>(&result))
    if (std::uint32_t parts = 0; nb::try_cast(given["splits"], parts)) {
      split->splits = {parts};
      split->equal_parts = true;
    }
  const auto read_field = [&](std::string_view name, auto& field) {
    const nb::str key(name.data(), name.size());
    if (!given.contains(key)) return;
    const nb::object value = given[key];
    if (name == "splits" && PyLong_Check(value.ptr()) != 0) return;
    try {
      read(value, field);
    } catch (const std::exception&) {  // of nanobind, or of the value itself
      PyErr_Clear();
      refuse(operation + ": " + std::string(name) + words_of(field) + ": unexpected value " +
             nb::cast<std::string>(nb::repr(value)));
    }
  };
  std::visit([&](auto& alternative) { for_each_field(alternative, read_field); }, result);
  return result;
}

}  // namespace binding
