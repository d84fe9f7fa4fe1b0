// Reductions along axes, and sums along the way.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

consteval Row reduction(std::string_view name, std::string_view call, Tolerance tolerance) {
  return {.name = name,
          .call = signature(call),
          .shape = reduce_shape,
          .attributes = alternative<ReduceAttributes>(),
          .tolerance = tolerance,
          .anchor = "api-mlgraphbuilder-reduce"};
}

/// The place of the smallest or largest number along an axis: of equals the first, and NaN is
/// beyond every number, as in reduceMin and reduceMax.
consteval Row arg_min_max(std::string_view name) {
  return {.name = name,
          .call = signature("input: any[1..N] -> int32|int64"),
          .shape = arg_min_max_shape,
          .attributes = alternative<ArgMinMaxAttributes>(),
          .type = arg_min_max_type,
          .anchor = "api-mlgraphbuilder-argminmax"};
}

inline constexpr std::array reduction_rows{
    arg_min_max("argMin"),
    arg_min_max("argMax"),
    Row{.name = "cumulativeSum",
        .call = signature("input: wide[1..N] -> input"),
        .shape = cumulative_sum_shape,
        .attributes = alternative<CumulativeSumAttributes>(),
        .tolerance = ulp_per_term(1),
        .anchor = "api-mlgraphbuilder-cumulativesum"},
    reduction("reduceL1", "input: wide -> input", ulp_per_term(1)),
    reduction("reduceL2", "input: floats -> input", ulp_per_term(3)),
    reduction("reduceLogSum", "input: floats -> input", ulp_per_term(19)),
    reduction("reduceLogSumExp", "input: floats -> input", ulp_per_term(20)),
    reduction("reduceMax", "input: any -> input", exact),
    reduction("reduceMean", "input: floats -> input", ulp_per_term(3)),
    reduction("reduceMin", "input: any -> input", exact),
    reduction("reduceProduct", "input: wide -> input", ulp_per_term(1)),
    reduction("reduceSum", "input: wide -> input", ulp_per_term(1)),
    reduction("reduceSumSquare", "input: wide -> input", ulp_per_term(2)),
};

}  // namespace polychron::ops
