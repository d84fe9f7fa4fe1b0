#include "js.hpp"

#include <string_view>

namespace webnn {

napi_valuetype Value::type() const {
  napi_valuetype type{};
  check(napi_typeof(env_, value_, &type));
  return type;
}

bool Value::boolean() const {
  bool result = false;
  check(napi_get_value_bool(env_, value_, &result));
  return result;
}

double Value::number() const {
  double result = 0;
  check(napi_get_value_double(env_, value_, &result));
  return result;
}

std::uint32_t Value::uint32() const {
  std::uint32_t result = 0;
  check(napi_get_value_uint32(env_, value_, &result));
  return result;
}

std::int32_t Value::int32() const {
  std::int32_t result = 0;
  check(napi_get_value_int32(env_, value_, &result));
  return result;
}

std::string Value::text() const {
  std::size_t size = 0;
  check(napi_get_value_string_utf8(env_, value_, nullptr, 0, &size));
  std::string result(size + 1, '\0');
  check(napi_get_value_string_utf8(env_, value_, result.data(), result.size(), &size));
  result.resize(size);
  return result;
}

Value Value::operator[](const char* name) const {
  napi_value result = nullptr;
  check(napi_get_named_property(env_, value_, name, &result));
  return {env_, result};
}

std::uint32_t Value::length() const {
  std::uint32_t result = 0;
  check(napi_get_array_length(env_, value_, &result));
  return result;
}

Value Value::at(std::uint32_t index) const {
  napi_value result = nullptr;
  check(napi_get_element(env_, value_, index, &result));
  return {env_, result};
}

std::span<std::byte> Value::bytes() const {
  napi_typedarray_type type{};
  std::size_t length = 0;
  void* data = nullptr;
  check(napi_get_typedarray_info(env_, value_, &type, &length, &data, nullptr, nullptr));
  if (type != napi_uint8_array) throw Refused{};
  return {static_cast<std::byte*>(data), data == nullptr ? 0 : length};
}

polychron::DataType Value::data_type() const {
  const auto type = polychron::data_type_from_string(text());
  if (!type) throw Refused{};
  return *type;
}

polychron::OperandDescriptor Value::descriptor() const {
  return {(*this)["dataType"].data_type(), (*this)["shape"].uint32s()};
}

std::vector<polychron::Dimension> Value::dimensions() const {
  return list([](const Value& value) -> polychron::Dimension {
    if (value.type() == napi_number) return value.uint32();
    if (value.type() == napi_string) return value.text();
    const auto name = value["name"], max = value["maxSize"];
    const auto largest = max.present() ? std::optional(max.uint32()) : std::nullopt;
    if (!name.present()) return polychron::Dimension::unnamed(largest);
    return {name.text(), largest};
  });
}

Handle& Value::handle() const {
  void* data = nullptr;
  check(napi_get_value_external(env_, value_, &data));
  if (data == nullptr) throw Refused{};
  return *static_cast<Handle*>(data);
}

napi_value undefined(napi_env env) {
  napi_value result = nullptr;
  check(napi_get_undefined(env, &result));
  return result;
}

napi_value make(napi_env env, bool value) {
  napi_value result = nullptr;
  check(napi_get_boolean(env, value, &result));
  return result;
}

napi_value make(napi_env env, double value) {
  napi_value result = nullptr;
  check(napi_create_double(env, value, &result));
  return result;
}

napi_value make(napi_env env, std::string_view value) {
  napi_value result = nullptr;
  check(napi_create_string_utf8(env, value.data(), value.size(), &result));
  return result;
}

napi_value make(napi_env env, std::unique_ptr<Handle> handle) {
  napi_value result = nullptr;
  const auto free = [](napi_env, void* data, void*) { delete static_cast<Handle*>(data); };
  check(napi_create_external(env, handle.get(), free, nullptr, &result));
  handle.release();
  return result;
}

napi_value make_shape(napi_env env, const polychron::Shape& shape) {
  return make_array(env, shape,
                    [&](std::uint32_t size) { return make(env, static_cast<double>(size)); });
}

napi_value make_shape(napi_env env, const std::vector<polychron::Dimension>& dimensions) {
  return make_array(env, dimensions, [&](const polychron::Dimension& dimension) {
    const auto number = [env](std::uint32_t size) { return make(env, static_cast<double>(size)); };
    const auto name = make(env, std::string_view(dimension.name));
    if (!dimension.is_dynamic()) return number(dimension.size);
    if (!dimension.max) return name;
    return Object(env).set("name", name).set("maxSize", number(*dimension.max)).raw();
  });
}

ExternalBytes::ExternalBytes(napi_env env, std::uint64_t bytes)
    : env_(env), bytes_(static_cast<std::int64_t>(bytes)) {
  std::int64_t total = 0;
  check(napi_adjust_external_memory(env_, bytes_, &total));
}

void ExternalBytes::release() noexcept {
  std::int64_t total = 0;
  // A refusal means that the environment is ending, and its accounts with it.
  static_cast<void>(napi_adjust_external_memory(env_, -bytes_, &total));
  bytes_ = 0;
}

}  // namespace webnn
