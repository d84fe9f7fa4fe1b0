// Quantization: floats as integers with a scale and a zero point, of the tensor or of blocks of it.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::string_view blockwise_words =
    "the input's; scale and zeroPoint have the same, of its rank, with dimensions that divide its: "
    "a block has one scale";

inline constexpr std::array quantization_rows{
    Row{.name = "quantizeLinear",
        .line = "round(input / scale) + zeroPoint, halves to the even number, kept in the range "
                "of the type",
        .call = signature("input: floats, scale: input, zeroPoint: quantized -> zeroPoint"),
        .shape = blockwise_shape,
        .shapes = blockwise_words,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-quantizelinear"},
    Row{.name = "dequantizeLinear",
        .line = "(input - zeroPoint) * scale",
        .call = signature("input: quantized, scale: floats, zeroPoint: input -> scale"),
        .shape = blockwise_shape,
        .shapes = blockwise_words,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-dequantizelinear"},
};

}  // namespace polychron::ops
