// Attributes of operators from fuzzed bytes, by the fields of the operator table.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <limits>

#include "polychron/attribute_fields.hpp"

namespace fuzz {

/// A size: mostly small, so that calls often are right; now and then one that overflows arithmetic.
inline std::uint32_t size(FuzzedDataProvider& data) {
  const auto choice = data.ConsumeIntegral<std::uint8_t>();
  constexpr std::uint32_t edges[]{0,          255,        256,       1024,       46341,
                                  65535,      65536,      1U << 20,  0x7ffffffe, 0x7fffffff,
                                  0x80000000, 0xfffffffe, 0xffffffff};
  if (choice >= 248) return edges[data.ConsumeIntegral<std::uint8_t>() % std::size(edges)];
  return choice < 128 ? choice % 4 + (choice < 120) : choice % 13;
}

inline double real(FuzzedDataProvider& data) {
  constexpr double edges[]{0,
                           1,
                           -1,
                           0.5,
                           2,
                           -0.0,
                           1e-5,
                           3.7,
                           -2.5,
                           1e30,
                           1e300,
                           -1e300,
                           5e-324,
                           1e-40,
                           65504,
                           1e10,
                           std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()};
  return edges[data.ConsumeIntegral<std::uint8_t>() % std::size(edges)];
}

/// Sets a field to any value. with() is true where the fuzzer wants a value that the field need not
/// have.
class AnyField {
 public:
  explicit AnyField(FuzzedDataProvider& data) : data_(data) {}

  void operator()(std::string_view, bool& value) { value = data_.ConsumeBool(); }
  void operator()(std::string_view, double& value) { value = real(data_); }
  void operator()(std::string_view, float& value) { value = static_cast<float>(real(data_)); }
  void operator()(std::string_view, std::uint32_t& value) { value = size(data_); }
  void operator()(std::string_view, std::int32_t& value) {
    const auto magnitude = static_cast<std::int32_t>(size(data_) & 0x7fffffffU);
    value = data_.ConsumeBool() ? magnitude : -magnitude - 1;
  }
  void operator()(std::string_view, polychron::Number& value) {
    switch (data_.ConsumeIntegral<std::uint8_t>() % 3) {
      case 0:
        value = real(data_);
        break;
      case 1:
        value = data_.ConsumeIntegral<std::int64_t>();
        break;
      default:
        value = data_.ConsumeIntegral<std::uint64_t>();
        break;
    }
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E& value) {
    value = static_cast<E>(data_.ConsumeIntegral<std::uint8_t>() %
                           (polychron::spellings<E>.size() + 1));
  }
  template <class T>
  void operator()(std::string_view name, std::vector<T>& value) {
    const auto choice = data_.ConsumeIntegral<std::uint8_t>();
    value.resize(choice < 224 ? choice % 5 : choice % 12);
    for (auto& element : value) (*this)(name, element);
    if (!value.empty() && choice % 3 == 0) value.assign(value.size(), value.front());
  }
  template <class T>
  void operator()(std::string_view name, std::optional<T>& value) {
    value.reset();
    if (data_.ConsumeBool()) (*this)(name, value.emplace());
  }

 private:
  FuzzedDataProvider& data_;
};

/// Attributes of alternative `index`, each field at its default or anything.
inline polychron::Attributes attributes(std::size_t index, FuzzedDataProvider& data) {
  auto result = polychron::default_attributes(index);
  auto set = data.ConsumeIntegral<std::uint8_t>();
  std::visit(
      [&]<class A>(A& alternative) {
        AnyField any(data);
        polychron::for_each_field(alternative, [&](std::string_view name, auto& field) {
          if ((set & 1U) != 0 || polychron::is_required<A>(name)) any(name, field);
          set = static_cast<std::uint8_t>(set >> 1);
        });
      },
      result);
  if (auto* split = std::get_if<polychron::SplitAttributes>(&result))
    split->equal_parts = data.ConsumeBool();
  return result;
}

}  // namespace fuzz
