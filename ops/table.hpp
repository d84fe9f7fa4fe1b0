// The operator table: every operator, described once. The builder, validation, support limits,
// documentation and tests derive from it; kernels find their operators in it.
//
// To add an operator: a row in ops/families/, a shape rule if no family has it yet, a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "ops/families/activation.hpp"
#include "ops/families/elementwise.hpp"
#include "ops/families/movement.hpp"
#include "ops/families/normalization.hpp"
#include "ops/families/spatial.hpp"
#include "ops/row.hpp"

namespace polychron::ops {

/// All rows; an OpId is an index into it. A description of the same binary only: ids change.
inline constexpr auto table = [] {
  constexpr std::array families{
      std::span<const Row>(elementwise_rows), std::span<const Row>(activation_rows),
      std::span<const Row>(spatial_rows), std::span<const Row>(normalization_rows),
      std::span<const Row>(movement_rows)};
  std::array<Row, elementwise_rows.size() + activation_rows.size() + spatial_rows.size() +
                      normalization_rows.size() + movement_rows.size()>
      rows;
  std::size_t count = 0;
  for (const auto& family : families)
    for (const Row& row : family) rows[count++] = row;
  return rows;
}();

/// The operator that the specification calls `name`; an unknown name does not compile.
consteval OpId op(std::string_view name) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table[i].name == name) return OpId{static_cast<std::uint16_t>(i)};
  throw "no operator of that name";
}

constexpr std::span<const Row> rows() noexcept { return table; }
constexpr const Row& row(OpId op) { return table[static_cast<std::size_t>(op)]; }
constexpr OpId id(const Row& row) { return OpId{static_cast<std::uint16_t>(&row - table.data())}; }

/// The row of `name`, or nullptr.
constexpr const Row* find(std::string_view name) noexcept {
  for (const Row& row : table)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace polychron::ops
