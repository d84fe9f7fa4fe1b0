// Reductions along axes, and cumulative sums.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

consteval Row reduction(std::string_view name, std::string_view line, std::string_view call,
                        Tolerance tolerance) {
  return {.name = name,
          .line = line,
          .call = signature(call),
          .shape = reduce_shape,
          .shapes = "the input's without axes, or with 1 there if keepDimensions",
          .attributes = alternative<ReduceAttributes>(),
          .tolerance = tolerance,
          .anchor = "api-mlgraphbuilder-reduce"};
}

/// The index of the smallest or largest number along an axis: the first of equal ones. NaN is
/// beyond every number, as in reduceMin and reduceMax.
consteval Row arg_min_max(std::string_view name, std::string_view line) {
  return {.name = name,
          .line = line,
          .call = signature("input: any[1..N] -> int32|int64"),
          .shape = arg_min_max_shape,
          .shapes = "the input's without axis, or with 1 there if keepDimensions",
          .attributes = alternative<ArgMinMaxAttributes>(),
          .type = arg_min_max_type,
          .anchor = "api-mlgraphbuilder-argminmax"};
}

inline constexpr std::array reduction_rows{
    arg_min_max("argMin",
                "the index of the smallest number along axis; of equals the first, NaN before all"),
    arg_min_max("argMax",
                "the index of the largest number along axis; of equals the first, NaN before all"),
    Row{.name = "cumulativeSum",
        .line = "the sum along axis up to each element; with exclusive without it, with reversed "
                "from the end",
        .call = signature("input: wide[1..N] -> input"),
        .shape = cumulative_sum_shape,
        .shapes = "the input's",
        .attributes = alternative<CumulativeSumAttributes>(),
        .tolerance = ulp_per_term(1),
        .anchor = "api-mlgraphbuilder-cumulativesum"},
    reduction("reduceL1", "the sum of the absolute values", "input: wide -> input",
              ulp_per_term(1)),
    reduction("reduceL2", "the square root of the sum of the squares", "input: floats -> input",
              ulp_per_term(3)),
    reduction("reduceLogSum", "the natural logarithm of the sum", "input: floats -> input",
              ulp_per_term(19)),
    reduction("reduceLogSumExp", "the natural logarithm of the sum of exp(x)",
              "input: floats -> input", ulp_per_term(20)),
    reduction("reduceMax", "the largest number", "input: any -> input", exact),
    reduction("reduceMean", "the average", "input: floats -> input", ulp_per_term(3)),
    reduction("reduceMin", "the smallest number", "input: any -> input", exact),
    reduction("reduceProduct", "the product; integers wrap around", "input: wide -> input",
              ulp_per_term(1)),
    reduction("reduceSum", "the sum; integers wrap around", "input: wide -> input",
              ulp_per_term(1)),
    reduction("reduceSumSquare", "the sum of the squares; integers wrap around",
              "input: wide -> input", ulp_per_term(2)),
    // WebNN has no such operator, and no short combination of operators computes it: docs/onnx.md.
    Row{.name = "topK",
        .line = "the indices of the k largest or smallest numbers along axis, the best first; of "
                "equals the first, NaN before all",
        .call = signature("input: any[1..N] -> int64[1..N]"),
        .shape = top_k_shape,
        .shapes = "the input's with k in the place of axis, which has at least k elements",
        .attributes = alternative<TopKAttributes>(),
        .anchor = ""},
};

}  // namespace polychron::ops
