// Pooling: computes one number from each window.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::string_view pooled_words =
    "the input's batch and channels, and of height and width (size + padding - dilated window) / "
    "stride + 1, rounded by outputShapeRounding, or outputSizes";

inline constexpr std::array pooling_rows{
    Row{.name = "averagePool2d",
        .line = "the average of each window, without padding",
        .call = signature("input: floats[4] -> input"),
        .shape = pool2d_shape,
        .shapes = pooled_words,
        .attributes = alternative<Pool2dAttributes>(),
        .tolerance = ulp_per_term(3),
        .anchor = "api-mlgraphbuilder-pool2d-average"},
    Row{.name = "l2Pool2d",
        .line = "the square root of the sum of squares of each window",
        .call = signature("input: floats[4] -> input"),
        .shape = pool2d_shape,
        .shapes = pooled_words,
        .attributes = alternative<Pool2dAttributes>(),
        .tolerance = ulp_per_term(2),
        .anchor = "api-mlgraphbuilder-pool2d-l2"},
    Row{.name = "maxPool2d",
        .line = "the largest number of each window",
        .call = signature("input: any[4] -> input"),
        .shape = pool2d_shape,
        .shapes = pooled_words,
        .attributes = alternative<Pool2dAttributes>(),
        .anchor = "api-mlgraphbuilder-pool2d-max"},
};

}  // namespace polychron::ops
