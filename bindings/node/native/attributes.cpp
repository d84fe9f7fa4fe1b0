#include "attributes.hpp"

#include <algorithm>
#include <polychron/attribute_fields.hpp>
#include <string>
#include <type_traits>

namespace webnn {

using namespace polychron;

namespace {

/// Reads JavaScript values into the fields of a struct.
class Reader {
 public:
  explicit Reader(napi_env env) : env_(env) {}

  void read(const Value& v, bool& field) const { field = v.boolean(); }
  void read(const Value& v, std::uint32_t& field) const { field = v.uint32(); }
  void read(const Value& v, std::int32_t& field) const { field = v.int32(); }
  void read(const Value& v, double& field) const { field = v.number(); }
  void read(const Value& v, float& field) const { field = static_cast<float>(v.number()); }
  void read(const Value& v, Number& field) const { field = number(env_, v); }
  template <class E>
  requires std::is_enum_v<E>
  void read(const Value& v, E& field) const {
    const auto found = std::ranges::find(spellings<E>, v.text());
    if (found == spellings<E>.end()) throw Refused{};
    field = static_cast<E>(found - spellings<E>.begin());
  }
  template <class T>
  void read(const Value& v, std::vector<T>& field) const {
    field = v.list([this](const Value& element) {
      T one{};
      read(element, one);
      return one;
    });
  }
  template <class T>
  void read(const Value& v, std::optional<T>& field) const {
    read(v, field.emplace());
  }

 private:
  napi_env env_;
};

}  // namespace

Number number(napi_env env, const Value& value) {
  if (value.type() != napi_bigint) return value.number();
  std::int64_t with_sign = 0;
  std::uint64_t without = 0;
  bool exact = false;
  check(napi_get_value_bigint_int64(env, value.raw(), &with_sign, &exact));
  if (exact) return with_sign;
  check(napi_get_value_bigint_uint64(env, value.raw(), &without, &exact));
  if (!exact) throw Refused{};  // lib/ passes larger ones as numbers
  return without;
}

Attributes attributes(napi_env env, std::string_view operation, const Value& members) {
  auto result = default_attributes(operation);
  const Reader reader(env);
  const auto read_fields = [&](auto& alternative) {
    for_each_field(alternative, [&](std::string_view name, auto& field) {
      if (const auto value = members[std::string(name).c_str()]; value.present())
        reader.read(value, field);
    });
  };
  std::visit(read_fields, result);
  // A number alone is a number of equal parts: lib/ passes it by a name of its own.
  if (auto* split = std::get_if<SplitAttributes>(&result))
    if (const auto parts = members["equalParts"]; parts.present()) {
      split->splits = {parts.uint32()};
      split->equal_parts = true;
    }
  return result;
}

}  // namespace webnn
