// Reductions along axes.
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

inline constexpr std::array reduction_rows{
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
