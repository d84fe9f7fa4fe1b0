// Element-wise operators: arithmetic, comparison, logic, and functions of one operand.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

/// Two operands of any type.
consteval Row arithmetic(std::string_view name, Tolerance tolerance, Order order) {
  return {.name = name,
          .call = signature("a: any, b: a -> a"),
          .shape = broadcast_shape,
          .order = order,
          .tolerance = tolerance,
          .anchor = "api-mlgraphbuilder-binary"};
}

/// A uint8 of ones and zeros from two operands of any type, or of uint8.
consteval Row comparison(std::string_view name, Order order) {
  return {.name = name,
          .call = signature("a: any, b: a -> uint8"),
          .shape = broadcast_shape,
          .order = order,
          .anchor = "api-mlgraphbuilder-logical"};
}
consteval Row logic(std::string_view name) {
  return {.name = name,
          .call = signature("a: uint8, b: a -> a"),
          .shape = broadcast_shape,
          .order = Order::free,
          .anchor = "api-mlgraphbuilder-logical"};
}

/// A uint8 of ones and zeros from one operand. The specification's table lets isNaN and isInfinite
/// have any type, its text floats alone: the table is followed, integers are neither.
consteval Row predicate(std::string_view name, std::string_view call) {
  return {.name = name,
          .call = signature(call),
          .shape = same_shape,
          .anchor = "api-mlgraphbuilder-logical"};
}

/// A function of each element.
consteval Row unary(std::string_view name, std::string_view call, Tolerance tolerance = exact) {
  return {.name = name,
          .call = signature(call),
          .shape = same_shape,
          .tolerance = tolerance,
          .anchor = "api-mlgraphbuilder-unary"};
}

inline constexpr std::array elementwise_rows{
    arithmetic("add", ulp(1), Order::free),
    arithmetic("sub", ulp(1), Order::fixed),
    arithmetic("mul", ulp(1), Order::free),
    arithmetic("div", ulp(2), Order::fixed),
    arithmetic("max", exact, Order::free),
    arithmetic("min", exact, Order::free),
    arithmetic("pow", ulp(32, 2), Order::fixed),
    comparison("equal", Order::free),
    comparison("notEqual", Order::free),
    comparison("greater", Order::fixed),
    comparison("greaterOrEqual", Order::fixed),
    comparison("lesser", Order::fixed),
    comparison("lesserOrEqual", Order::fixed),
    logic("logicalAnd"),
    logic("logicalOr"),
    logic("logicalXor"),
    predicate("logicalNot", "a: uint8 -> a"),
    predicate("isNaN", "a: any -> uint8"),
    predicate("isInfinite", "a: any -> uint8"),
    unary("abs", "input: signeds -> input"),
    unary("ceil", "input: floats -> input"),
    unary("cos", "input: floats -> input", absolute(1.0 / 1024, 1.0 / 512)),
    unary("erf", "input: floats -> input", absolute(1.0 / 1024, 1.0 / 512)),
    unary("exp", "input: floats -> input", ulp(32, 1)),
    unary("floor", "input: floats -> input"),
    unary("identity", "input: any -> input"),
    unary("log", "input: floats -> input", absolute(1.0 / 1024, 1.0 / 1024)),
    unary("neg", "input: signeds -> input"),
    unary("reciprocal", "input: floats -> input", ulp(2)),
    unary("roundEven", "input: floats -> input"),
    unary("sign", "input: signeds -> input"),
    unary("sin", "input: floats -> input", absolute(1.0 / 1024, 1.0 / 512)),
    unary("sqrt", "input: floats -> input", ulp(1)),
    unary("tan", "input: floats -> input", absolute(1.0 / 1024, 1.0 / 512)),
    Row{.name = "cast",
        .call = signature("input: any -> any"),
        .shape = same_shape,
        .attributes = alternative<CastAttributes>(),
        .type = cast_type,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-cast"},
    Row{.name = "where",
        .call = signature("condition: uint8, trueValue: any, falseValue: trueValue -> trueValue"),
        .shape = broadcast_shape,
        .anchor = "api-mlgraphbuilder-where"},
};

}  // namespace polychron::ops
