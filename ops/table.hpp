// The operator table: every operator, described once. The builder, validation, support limits,
// documentation and tests derive from it; kernels find their operators in it.
//
// To add an operator: docs/architecture.md, "An operator is three lines".
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "ops/families/activation.hpp"
#include "ops/families/convolution.hpp"
#include "ops/families/elementwise.hpp"
#include "ops/families/indexing.hpp"
#include "ops/families/matrix.hpp"
#include "ops/families/movement.hpp"
#include "ops/families/normalization.hpp"
#include "ops/families/pooling.hpp"
#include "ops/families/quantization.hpp"
#include "ops/families/recurrent.hpp"
#include "ops/families/reduction.hpp"
#include "ops/families/resampling.hpp"
#include "ops/row.hpp"

namespace polychron::ops {

namespace detail {

struct FamilyRows {
  Family family;
  std::span<const Row> rows;
};

inline constexpr std::array families{
    FamilyRows{Family::elementwise, elementwise_rows},
    FamilyRows{Family::activation, activation_rows},
    FamilyRows{Family::matrix, matrix_rows},
    FamilyRows{Family::convolution, convolution_rows},
    FamilyRows{Family::pooling, pooling_rows},
    FamilyRows{Family::resampling, resampling_rows},
    FamilyRows{Family::normalization, normalization_rows},
    FamilyRows{Family::reduction, reduction_rows},
    FamilyRows{Family::movement, movement_rows},
    FamilyRows{Family::indexing, indexing_rows},
    FamilyRows{Family::quantization, quantization_rows},
    FamilyRows{Family::recurrent, recurrent_rows},
};

constexpr std::size_t row_count() {
  std::size_t count = 0;
  for (const auto& family : families) count += family.rows.size();
  return count;
}

}  // namespace detail

/// All rows; an OpId is an index into it. Ids are valid within one binary only.
inline constexpr auto table = [] {
  std::array<Row, detail::row_count()> rows;
  std::size_t count = 0;
  for (const auto& [family, family_rows] : detail::families)
    for (Row row : family_rows) {
      row.family = family;
      rows[count++] = row;
    }
  return rows;
}();

static_assert(std::ranges::all_of(table, [](const Row& row) { return row.inferable(); }),
              "the types of each row's results follow from its operands or its attributes");

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
