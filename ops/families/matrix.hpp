// Products of matrices.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array matrix_rows{
    Row{.name = "gemm",
        .line = "alpha * a * b + beta * c, products of matrices; a and b are transposed if asked",
        .call = signature("a: floats[2], b: a, c?: a[0..2] -> a"),
        .shape = gemm_shape,
        .shapes = "[rows of a, columns of b], once these are transposed; c broadcasts to that",
        .attributes = alternative<GemmAttributes>(),
        .tolerance = ulp_per_term(4),
        .anchor = "api-mlgraphbuilder-gemm"},
    Row{.name = "matmul",
        .line = "the products of the matrices in the last two dimensions",
        .call = signature("a: floats[2..N], b: a -> a"),
        .shape = matmul_shape,
        .shapes = "[..., rows of a, columns of b]: a has as many columns as b has rows, and the "
                  "dimensions before these are broadcast",
        .tolerance = ulp_per_term(2),
        .anchor = "api-mlgraphbuilder-matmul"},
};

}  // namespace polychron::ops
