// Convolutions.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array convolution_rows{
    Row{.name = "conv2d",
        .line = "a convolution of two dimensions, in groups of channels; plus the bias",
        .call = signature("input: floats[4], filter: input[4], bias?: input[1] -> input"),
        .shape = conv2d_shape,
        .shapes = "the input's batch, the filter's output channels, and of height and width (size "
                  "+ padding - dilated window) / stride + 1, rounded down",
        .attributes = alternative<Conv2dAttributes>(),
        .tolerance = ulp_per_term(2),
        .anchor = "api-mlgraphbuilder-conv2d"},
    Row{.name = "convTranspose2d",
        .line = "a transposed convolution of two dimensions, in groups of channels; plus the bias",
        .call = signature("input: floats[4], filter: input[4], bias?: input[1] -> input"),
        .shape = conv_transpose2d_shape,
        .shapes =
            "the input's batch, the filter's output channels times groups, and of height and width "
            "(size - 1) * stride + dilated window - padding + outputPadding, or outputSizes",
        .attributes = alternative<ConvTranspose2dAttributes>(),
        .tolerance = ulp_per_term(2),
        .anchor = "api-mlgraphbuilder-convtranspose2d"},
};

}  // namespace polychron::ops
