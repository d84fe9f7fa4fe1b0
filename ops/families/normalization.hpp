// Normalization by mean and variance.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array normalization_rows{
    Row{.name = "batchNormalization",
        .line = "scale * (x - mean) / sqrt(variance + epsilon) + bias, with numbers for each "
                "place along axis",
        .call = signature("input: floats[1..N], mean: input[1], variance: input[1], "
                          "scale?: input[1], bias?: input[1] -> input"),
        .shape = batch_normalization_shape,
        .shapes = "the input's; each other operand has its size along axis",
        .attributes = alternative<BatchNormalizationAttributes>(),
        .tolerance = ulp(6),
        .anchor = "api-mlgraphbuilder-batchnorm"},
    Row{.name = "instanceNormalization",
        .line = "scale * (x - mean) / sqrt(variance + epsilon) + bias, with mean and variance of "
                "each picture and channel",
        .call = signature("input: floats[4], scale?: input[1], bias?: input[1] -> input"),
        .shape = instance_normalization_shape,
        .shapes = "the input's; scale and bias have as many elements as it has channels",
        .attributes = alternative<InstanceNormalizationAttributes>(),
        .tolerance = ulp(840, 8400),
        .anchor = "api-mlgraphbuilder-instancenorm"},
    Row{.name = "layerNormalization",
        .line = "scale * (x - mean) / sqrt(variance + epsilon) + bias, with mean and variance "
                "along axes",
        .call = signature("input: floats, scale?: input, bias?: input -> input"),
        .shape = layer_normalization_shape,
        .shapes = "the input's; scale and bias have its sizes along axes, in their order",
        .attributes = alternative<LayerNormalizationAttributes>(),
        .tolerance = ulp(14),
        .anchor = "api-mlgraphbuilder-layernorm"},
};

}  // namespace polychron::ops
