// Resampling: changes the size of pictures.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array resampling_rows{
    Row{.name = "resample2d",
        .line = "the picture along axes in another size: the nearest element to each center, or "
                "linear between two",
        .call = signature("input: float32|float16|uint8|int8[4] -> input"),
        .shape = resample2d_shape,
        .shapes = "the input's, but along axes sizes, or size * scale rounded down",
        .attributes = alternative<Resample2dAttributes>(),
        .tolerance = ulp(84),
        .anchor = "api-mlgraphbuilder-resample2d-method"},
};

}  // namespace polychron::ops
