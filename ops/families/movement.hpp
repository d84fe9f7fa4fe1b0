// Shape and data movement: every result is exact.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array movement_rows{
    Row{.name = "concat",
        .call = signature("inputs...: any[1..N] -> inputs"),
        .shape = concat_shape,
        .attributes = alternative<ConcatAttributes>(),
        .anchor = "api-mlgraphbuilder-concat"},
    Row{.name = "expand",
        .call = signature("input: any -> input"),
        .shape = expand_shape,
        .attributes = alternative<ExpandAttributes>(),
        .anchor = "api-mlgraphbuilder-expand"},
    Row{.name = "pad",
        .call = signature("input: any -> input"),
        .shape = pad_shape,
        .attributes = alternative<PadAttributes>(),
        .anchor = "api-mlgraphbuilder-pad"},
    Row{.name = "reshape",
        .call = signature("input: any -> input"),
        .shape = reshape_shape,
        .attributes = alternative<ReshapeAttributes>(),
        .anchor = "api-mlgraphbuilder-reshape-method"},
    Row{.name = "reverse",
        .call = signature("input: any -> input"),
        .shape = reverse_shape,
        .attributes = alternative<ReverseAttributes>(),
        .anchor = "api-mlgraphbuilder-reverse-method"},
    Row{.name = "slice",
        .call = signature("input: any -> input"),
        .shape = slice_shape,
        .attributes = alternative<SliceAttributes>(),
        .anchor = "api-mlgraphbuilder-slice"},
    Row{.name = "split",
        .call = signature("input: any[1..N] -> outputs...: input"),
        .shape = split_shape,
        .attributes = alternative<SplitAttributes>(),
        .anchor = "api-mlgraphbuilder-split"},
    Row{.name = "tile",
        .call = signature("input: any -> input"),
        .shape = tile_shape,
        .attributes = alternative<TileAttributes>(),
        .anchor = "api-mlgraphbuilder-tile"},
    Row{.name = "transpose",
        .call = signature("input: any -> input"),
        .shape = transpose_shape,
        .attributes = alternative<TransposeAttributes>(),
        .anchor = "api-mlgraphbuilder-transpose"},
    Row{.name = "triangular",
        .call = signature("input: any[2..N] -> input"),
        .shape = same_shape,
        .attributes = alternative<TriangularAttributes>(),
        .anchor = "api-mlgraphbuilder-triangular"},
};

}  // namespace polychron::ops
