// The rules that hold across operators, for every row: U (unary), B (broadcast), T (same type),
// types, ranks, byte limit, double options. L (the label in messages) is checked with each refusal.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "polychron/attribute_fields.hpp"
#include "tests/ops/check.hpp"

using namespace polychron;
using namespace polychron::test;

BOOST_AUTO_TEST_SUITE(general_rules)

namespace {

const std::vector<Shape> swept{{}, {2}, {2, 3}, {2, 3, 4}, {2, 3, 4, 5}, {2, 3, 4, 5, 6}};

bool takes_two_of_one_type(const ops::Row& row) {
  return row.operands().size() == 2 && row.operands()[1].same_as == 0 &&
         row.attributes == ops::alternative<std::monostate>() && row.name != "matmul";
}

bool is_unary(const ops::Row& row) {
  return row.operands().size() == 1 && !row.call.variadic() && !row.type &&
         (row.shape == ops::same_shape || row.shape == ops::clamp_shape);
}

/// The type of the row's first result for operands of `type`.
DataType result_type(const ops::Row& row, DataType type) {
  const auto& rule = row.results()[0];
  return rule.same_as == 0 ? type : rule.types.members().front();
}

/// A shape of `rank` within the rule's ranks.
Shape twos(std::size_t rank) { return Shape(rank, 2); }

/// Operands of the row's first types and least ranks; they need not fit each other's shapes.
Descriptors operands_of(const ops::Row& row) {
  Descriptors operands;
  for (const auto& rule : row.operands())
    operands.push_back({rule.types.members().front(), twos(rule.rank_min)});
  return operands;
}

}  // namespace

BOOST_AUTO_TEST_CASE(u_unary_keeps_type_and_shape_and_refuses_other_types) {
  int rows = 0;
  for (const auto& row : ops::rows()) {
    if (!is_unary(row)) continue;
    ++rows;
    const auto& rule = row.operands()[0];
    for (const auto type : all_data_types)
      for (const auto& shape : swept) {
        const OperandDescriptor operand{type, shape};
        if (shape.size() < rule.rank_min)
          refuse(row.name, {operand}, default_attributes(row.attributes), operand_text(rule));
        else if (rule.types.has(type))
          accept(row.name, {operand}, default_attributes(row.attributes),
                 {result_type(row, type), shape});
        else
          refuse(row.name, {operand}, default_attributes(row.attributes), to_string(type));
      }
  }
  BOOST_TEST(rows > 20);
}

BOOST_AUTO_TEST_CASE(t_two_operands_have_the_same_type) {
  int rows = 0;
  for (const auto& row : ops::rows()) {
    if (!takes_two_of_one_type(row)) continue;
    ++rows;
    for (const auto a : all_data_types)
      for (const auto b : all_data_types)
        for (const auto& shape : swept)
          if (a != b) refuse(row.name, {{a, shape}, {b, shape}}, {}, "operand '");
  }
  BOOST_TEST(rows > 10);
}

BOOST_AUTO_TEST_CASE(b_two_operands_broadcast) {
  for (const auto& row : ops::rows()) {
    if (!takes_two_of_one_type(row)) continue;
    const auto type = row.operands()[0].types.members().front();
    const auto both_ways = [&](const Shape& a, const Shape& b) {
      refuse(row.name, {{type, a}, {type, b}}, {}, "broadcasts");
      refuse(row.name, {{type, b}, {type, a}}, {}, "broadcasts");
    };
    for (const auto& shape : swept) {
      for (std::size_t i = 0; i < shape.size(); ++i) {
        Shape other = shape;
        ++other[i];
        both_ways(shape, other);
      }
      for (std::size_t rank = 1; !shape.empty() && rank <= shape.size() + 1; ++rank) {
        Shape other(rank, 1);
        other.back() = shape.back() + 1;
        both_ways(shape, other);
      }
      const auto result = result_type(row, type);
      accept(row.name, {{type, shape}, {type, {}}}, {}, {result, shape});
      accept(row.name, {{type, Shape(shape.size(), 1)}, {type, shape}}, {}, {result, shape});
    }
  }
}

BOOST_AUTO_TEST_CASE(every_operand_has_an_allowed_type_and_rank) {
  for (const auto& row : ops::rows()) {
    const auto operands = operands_of(row);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto& rule = row.operands()[i];
      const auto name = operand_text(rule);
      for (const auto type : all_data_types) {
        if (rule.types.has(type)) continue;
        auto wrong = operands;
        wrong[i].data_type = type;
        refuse(row.name, wrong, default_attributes(row.attributes), name);
      }
      for (std::size_t rank = 0; rank <= max_rank; ++rank) {
        if (rank >= rule.rank_min && rank <= rule.rank_max) continue;
        auto wrong = operands;
        wrong[i].shape = twos(rank);
        refuse(row.name, wrong, default_attributes(row.attributes), name);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_required_operand_is_there_and_none_too_many) {
  for (const auto& row : ops::rows()) {
    const auto operands = operands_of(row);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (row.operands()[i].optional) continue;
      auto fewer = operands;
      fewer[i] = absent;
      refuse(row.name, fewer, default_attributes(row.attributes), "is missing");
    }
    if (row.call.variadic()) continue;
    auto more = operands;
    more.push_back(more.front());
    refuse(row.name, more, default_attributes(row.attributes), "operands, expected at most");
  }
}

BOOST_AUTO_TEST_CASE(attributes_are_the_rows_own) {
  for (const auto& row : ops::rows())
    refuse(row.name, operands_of(row), default_attributes(row.attributes == 0 ? 1 : 0),
           "attributes");
}

BOOST_AUTO_TEST_CASE(double_options_are_finite) {
  const double bad[] = {std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::quiet_NaN()};
  int options = 0;
  for (const auto& row : ops::rows()) {
    for (const double value : bad) {
      auto attributes = default_attributes(row.attributes);
      std::vector<std::pair<std::string, double*>> doubles;
      std::visit(
          [&](auto& alternative) {
            for_each_field(alternative, [&](std::string_view name, auto& field) {
              if constexpr (std::is_same_v<std::decay_t<decltype(field)>, double>)
                doubles.emplace_back(name, &field);
            });
          },
          attributes);
      for (auto& [name, field] : doubles) {
        const double before = std::exchange(*field, value);
        refuse(row.name, operands_of(row), attributes, name);
        *field = before;
        ++options;
      }
    }
  }
  BOOST_TEST(options == 3 * 11);
}

BOOST_AUTO_TEST_CASE(enumerations_have_one_of_their_values) {
  refuse("conv2d", {f32({1, 1, 1, 1}), f32({1, 1, 1, 1})},
         Conv2dAttributes{.input_layout = static_cast<InputOperandLayout>(7)}, "inputLayout");
  refuse("cast", {f32({1})}, CastAttributes{static_cast<DataType>(99)}, "dataType");
}

BOOST_AUTO_TEST_CASE(results_stay_within_the_byte_limit_and_the_highest_rank) {
  for (const auto& row : ops::rows())
    if (takes_two_of_one_type(row) && row.operands()[0].types.has(DataType::float32))
      refuse(row.name, {f32({quarter, 1}), f32({1, 5})}, {}, "result '");
  refuse("cast", {i8({static_cast<std::uint32_t>(most_bytes / 2)})},
         CastAttributes{DataType::int64}, "result '");
  refuse("where", {u8({1, 4}), f32({quarter, 1}), f32({1, 4})}, {}, "result '");
  refuse("matmul", {f32({quarter, 1}), f32({1, 5})}, {}, "result '");
  refuse("gemm", {f32({quarter, 1}), f32({1, 5})}, GemmAttributes{}, "result '");
  refuse("concat", {f32({quarter}), f32({quarter})}, ConcatAttributes{0}, "result '");
  refuse("gather", {f32({2, 2, 2, 2, 2}), i32({1, 1, 1, 1, 1})}, GatherAttributes{0}, "rank 9");
  refuse("gather", {f32({1, 5}), i32({quarter})}, GatherAttributes{0}, "result '");
  refuse("gatherND", {f32({2, 2, 2, 2, 2, 2}), i32({1, 1, 1, 1, 1})}, {}, "rank 9");
  refuse("gatherND", {f32({1, 5}), i32({quarter, 1, 1})}, {}, "result '");
  refuse("tile", {f32({1, 2, 3, 4})}, TileAttributes{{1, 1, 1, quarter}}, "result '");
}

BOOST_AUTO_TEST_SUITE_END()
