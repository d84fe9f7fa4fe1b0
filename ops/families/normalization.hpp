// Normalisations and reductions.
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

inline constexpr std::array normalization_rows{
    Row{.name = "batchNormalization",
        .call = signature("input: floats[1..N], mean: input[1], variance: input[1], "
                          "scale?: input[1], bias?: input[1] -> input"),
        .shape = batch_normalization_shape,
        .attributes = alternative<BatchNormalizationAttributes>(),
        .tolerance = ulp(6),
        .anchor = "api-mlgraphbuilder-batchnorm"},
    Row{.name = "instanceNormalization",
        .call = signature("input: floats[4], scale?: input[1], bias?: input[1] -> input"),
        .shape = instance_normalization_shape,
        .attributes = alternative<InstanceNormalizationAttributes>(),
        .tolerance = ulp(840, 8400),
        .anchor = "api-mlgraphbuilder-instancenorm"},
    Row{.name = "layerNormalization",
        .call = signature("input: floats, scale?: input, bias?: input -> input"),
        .shape = layer_normalization_shape,
        .attributes = alternative<LayerNormalizationAttributes>(),
        .tolerance = ulp(14),
        .anchor = "api-mlgraphbuilder-layernorm"},
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
