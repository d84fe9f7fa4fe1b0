// Quantization: floats as integers with a scale and a zero point, of the tensor or of blocks of it.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array quantization_rows{
    Row{.name = "quantizeLinear",
        .line = "round(input / scale) + zeroPoint, halves to the even number, kept in the range "
                "of the type",
        .call = signature("input: floats, scale: input, zeroPoint: quantized -> zeroPoint"),
        .shape = blockwise_shape,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-quantizelinear"},
    Row{.name = "dequantizeLinear",
        .line = "(input - zeroPoint) * scale",
        .call = signature("input: quantized, scale: floats, zeroPoint: input -> scale"),
        .shape = blockwise_shape,
        .tolerance = ulp(1),
        .anchor = "api-mlgraphbuilder-dequantizelinear"},
};

}  // namespace polychron::ops
