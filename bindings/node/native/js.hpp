// Small helpers over Node-API: reading arguments, making values, and handles to native objects.
// Every function runs on the environment's own thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <node_api.h>

#include <polychron/descriptor.hpp>
#include <polychron/dimension.hpp>
#include <polychron/graph.hpp>
#include <polychron/invariant.hpp>

namespace webnn {

/// Thrown when Node-API refuses a call: an exception is pending, or the thread is being stopped.
struct Refused {};

inline void check(napi_status status) {
  if (status != napi_ok) throw Refused{};
}

struct Call;

/// A native object behind an opaque JavaScript value, which only lib/ sees.
enum class Kind : std::uint8_t {
  context,
  tensor,
  graph,
  builder,
  operand,
  lease,
  cancellation,
  model,
  sessions,
  session
};

struct Handle {
  explicit Handle(Kind own) noexcept : kind(own) {}
  virtual ~Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// WebNN's destroy(), for objects that have one.
  virtual void destroy(const Call& /*call*/) {}
  const Kind kind;
};

/// The environment and one value in it, with conversions to C++.
class Value {
 public:
  Value(napi_env env, napi_value value) noexcept : env_(env), value_(value) {}
  napi_value raw() const noexcept { return value_; }

  napi_valuetype type() const;
  bool present() const { return type() != napi_undefined && type() != napi_null; }
  bool boolean() const;
  double number() const;
  std::uint32_t uint32() const;
  std::int32_t int32() const;
  std::string text() const;
  Value operator[](const char* name) const;
  std::uint32_t length() const;
  Value at(std::uint32_t index) const;
  /// The bytes under a Uint8Array: none if its buffer was detached.
  std::span<std::byte> bytes() const;

  /// `convert(element)` for each element of an array.
  template <class F>
  auto list(F convert) const {
    std::vector<decltype(convert(*this))> result;
    const auto count = length();
    result.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) result.push_back(convert(at(i)));
    return result;
  }
  std::vector<std::uint32_t> uint32s() const {
    return list([](const Value& v) { return v.uint32(); });
  }
  polychron::DataType data_type() const;
  polychron::OperandDescriptor descriptor() const;
  std::vector<polychron::Dimension> dimensions() const;

  /// The native object behind this value.
  Handle& handle() const;
  /// The same. lib/ has checked that it is of H's kind.
  template <class H>
  H& as() const {
    auto& own = handle();
    polychron::check_invariant(own.kind == H::own_kind, "a handle is of the call's kind");
    return static_cast<H&>(own);
  }

 private:
  napi_env env_;
  napi_value value_;
};

napi_value undefined(napi_env env);
napi_value make(napi_env env, bool value);
napi_value make(napi_env env, double value);
napi_value make(napi_env env, std::string_view value);
/// An opaque value that owns `handle`; garbage collection frees it.
napi_value make(napi_env env, std::unique_ptr<Handle> handle);
napi_value make_shape(napi_env env, const polychron::Shape& shape);
/// A dynamic dimension is its name, or {name, maxSize}.
napi_value make_shape(napi_env env, const std::vector<polychron::Dimension>& dimensions);

template <class T, class F>
napi_value make_array(napi_env env, const std::vector<T>& values, F convert) {
  napi_value array = nullptr;
  check(napi_create_array_with_length(env, values.size(), &array));
  for (std::uint32_t i = 0; i < values.size(); ++i)
    check(napi_set_element(env, array, i, convert(values[i])));
  return array;
}

/// An object under construction.
class Object {
 public:
  explicit Object(napi_env env) : env_(env) { check(napi_create_object(env, &value_)); }
  Object& set(const char* name, napi_value value) {
    check(napi_set_named_property(env_, value_, name, value));
    return *this;
  }
  template <class T>
  Object& set(const char* name, const T& value) {
    return set(name, make(env_, value));
  }
  napi_value raw() const noexcept { return value_; }

 private:
  napi_env env_;
  napi_value value_ = nullptr;
};

/// An array of {name, dataType, shape}, from pairs of a name and a descriptor.
template <class Descriptors>
napi_value make_descriptors(napi_env env, const Descriptors& descriptors) {
  return make_array(env, descriptors, [&](const auto& each) {
    const auto& [name, descriptor] = each;
    return Object(env)
        .set("name", std::string_view(name))
        .set("dataType", to_string(descriptor.data_type))
        .set("shape", make_shape(env, descriptor.shape))
        .raw();
  });
}

/// Tells the garbage collector how much native memory hangs on an object; takes it back when freed.
class ExternalBytes {
 public:
  ExternalBytes(napi_env env, std::uint64_t bytes);
  ~ExternalBytes() { release(); }
  ExternalBytes(const ExternalBytes&) = delete;
  ExternalBytes& operator=(const ExternalBytes&) = delete;
  void release() noexcept;

 private:
  napi_env env_;
  std::int64_t bytes_;
};

}  // namespace webnn
