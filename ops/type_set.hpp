// Sets of data types, for the types of an operand.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "polychron/data_type.hpp"

namespace polychron::ops {

/// A set of DataTypes, one bit each.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<DataType> types) {
    for (const auto type : types) bits_ |= bit(type);
  }
  constexpr bool has(DataType type) const noexcept { return (bits_ & bit(type)) != 0; }
  constexpr int size() const noexcept { return std::popcount(bits_); }
  constexpr TypeSet operator|(TypeSet other) const noexcept {
    other.bits_ |= bits_;
    return other;
  }
  constexpr TypeSet without(TypeSet other) const noexcept {
    other.bits_ = bits_ & ~other.bits_;
    return other;
  }
  /// The members, in the specification's order.
  std::vector<DataType> members() const {
    std::vector<DataType> types;
    for (const auto type : all_data_types)
      if (has(type)) types.push_back(type);
    return types;
  }
  /// "int32, int64".
  std::string text() const {
    std::string names;
    for (const auto type : members())
      names.append(names.empty() ? "" : ", ").append(to_string(type));
    return names;
  }
  friend constexpr bool operator==(TypeSet, TypeSet) = default;

 private:
  static constexpr std::uint32_t bit(DataType type) noexcept {
    return 1U << static_cast<std::uint32_t>(type);
  }
  std::uint32_t bits_ = 0;
};

/// The sets that the specification's tables use, under the names that signatures use.
namespace type_sets {
inline constexpr TypeSet floats{DataType::float32, DataType::float16};
inline constexpr TypeSet any{DataType::float32, DataType::float16, DataType::int32,
                             DataType::uint32,  DataType::int64,   DataType::uint64,
                             DataType::int8,    DataType::uint8};
inline constexpr TypeSet wide{DataType::float32, DataType::float16, DataType::int32,
                              DataType::uint32,  DataType::int64,   DataType::uint64};
inline constexpr TypeSet signeds{DataType::float32, DataType::float16, DataType::int64,
                                 DataType::int32, DataType::int8};
inline constexpr TypeSet indices{DataType::int32, DataType::uint32, DataType::int64};
inline constexpr TypeSet packed{DataType::int4, DataType::uint4};
inline constexpr TypeSet quantized{DataType::int32, DataType::uint32, DataType::int8,
                                   DataType::uint8, DataType::int4,   DataType::uint4};

}  // namespace type_sets

}  // namespace polychron::ops
