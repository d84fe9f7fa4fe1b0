#include "onnx/element_type.hpp"

#include <array>

namespace polychron::onnx::detail {

namespace {

struct TypeRow {
  std::string_view name;
  std::size_t size;
  std::optional<DataType> operand;
};

constexpr std::array<TypeRow, 29> type_rows{{
    {"undefined", 0, {}},
    {"float", 4, DataType::float32},
    {"uint8", 1, DataType::uint8},
    {"int8", 1, DataType::int8},
    {"uint16", 2, DataType::int32},
    {"int16", 2, DataType::int32},
    {"int32", 4, DataType::int32},
    {"int64", 8, DataType::int64},
    {"string", 0, {}},
    {"bool", 1, DataType::uint8},
    {"float16", 2, DataType::float16},
    {"double", 8, DataType::float32},
    {"uint32", 4, DataType::uint32},
    {"uint64", 8, DataType::uint64},
    {"complex64", 0, {}},
    {"complex128", 0, {}},
    {"bfloat16", 2, DataType::float32},
    {"float8e4m3fn", 0, {}},
    {"float8e4m3fnuz", 0, {}},
    {"float8e5m2", 0, {}},
    {"float8e5m2fnuz", 0, {}},
    {"uint4", 1, DataType::uint8},
    {"int4", 1, DataType::int8},
    {"float4e2m1", 0, {}},
    {"float8e8m0", 0, {}},
    {"uint2", 0, {}},
    {"int2", 0, {}},
    {"float6e2m3", 0, {}},
    {"float6e3m2", 0, {}},
}};
constexpr TypeRow unknown{"unknown", 0, {}};

const TypeRow& row(ElementType type) noexcept {
  const auto index = static_cast<std::int32_t>(type);
  return index >= 0 && static_cast<std::size_t>(index) < type_rows.size()
             ? type_rows[static_cast<std::size_t>(index)]
             : unknown;
}

}  // namespace

std::string_view to_string(ElementType type) noexcept { return row(type).name; }
std::size_t element_size(ElementType type) noexcept { return row(type).size; }
std::optional<DataType> operand_type(ElementType type) noexcept { return row(type).operand; }

ElementType element_type(DataType type) noexcept {
  for (std::size_t i = 0; i < type_rows.size(); ++i)
    if (type_rows[i].operand == type && type_rows[i].size == byte_size(type) &&
        type_rows[i].name != "bool")
      return static_cast<ElementType>(i);
  return ElementType::undefined;
}

ElementType element_type(std::string_view name) noexcept {
  for (std::size_t i = 0; i < type_rows.size(); ++i)
    if (type_rows[i].name == name) return static_cast<ElementType>(i);
  return ElementType::undefined;
}

}  // namespace polychron::onnx::detail
