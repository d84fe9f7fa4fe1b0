// Matrices, convolution, pooling and resampling.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array spatial_rows{
    Row{.name = "conv2d",
        .call = signature("input: floats[4], filter: input[4], bias?: input[1] -> input"),
        .shape = conv2d_shape,
        .attributes = alternative<Conv2dAttributes>(),
        .tolerance = ulp_per_term(2),
        .anchor = "api-mlgraphbuilder-conv2d"},
    Row{.name = "convTranspose2d",
        .call = signature("input: floats[4], filter: input[4], bias?: input[1] -> input"),
        .shape = conv_transpose2d_shape,
        .attributes = alternative<ConvTranspose2dAttributes>(),
        .tolerance = ulp_per_term(2),
        .anchor = "api-mlgraphbuilder-convtranspose2d"},
    Row{.name = "gemm",
        .call = signature("a: floats[2], b: a, c?: a[0..2] -> a"),
        .shape = gemm_shape,
        .attributes = alternative<GemmAttributes>(),
        .tolerance = ulp_per_term(4),
        .anchor = "api-mlgraphbuilder-gemm"},
    Row{.name = "matmul",
        .call = signature("a: floats[2..N], b: a -> a"),
        .shape = matmul_shape,
        .tolerance = ulp_per_term(2),
        .anchor = "api-mlgraphbuilder-matmul"},
    Row{.name = "averagePool2d",
        .call = signature("input: floats[4] -> input"),
        .shape = pool2d_shape,
        .attributes = alternative<Pool2dAttributes>(),
        .tolerance = ulp_per_term(3),
        .anchor = "api-mlgraphbuilder-pool2d-average"},
    Row{.name = "maxPool2d",
        .call = signature("input: any[4] -> input"),
        .shape = pool2d_shape,
        .attributes = alternative<Pool2dAttributes>(),
        .anchor = "api-mlgraphbuilder-pool2d-max"},
    Row{.name = "resample2d",
        .call = signature("input: float32|float16|uint8|int8[4] -> input"),
        .shape = resample2d_shape,
        .attributes = alternative<Resample2dAttributes>(),
        .tolerance = ulp(84),
        .anchor = "api-mlgraphbuilder-resample2d-method"},
};

}  // namespace polychron::ops
