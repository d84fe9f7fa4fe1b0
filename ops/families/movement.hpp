// Shape and data movement: every result is exact.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array movement_rows{
    Row{.name = "concat",
        .line = "the inputs one after the other along axis",
        .call = signature("inputs...: any[1..N] -> inputs"),
        .shape = concat_shape,
        .attributes = alternative<ConcatAttributes>(),
        .anchor = "api-mlgraphbuilder-concat"},
    Row{.name = "expand",
        .line = "the input, repeated where its dimensions are 1",
        .call = signature("input: any -> input"),
        .shape = expand_shape,
        .attributes = alternative<ExpandAttributes>(),
        .anchor = "api-mlgraphbuilder-expand"},
    Row{.name = "pad",
        .line = "the input with elements around it: the value, the nearest of its edge, or its "
                "reflection",
        .call = signature("input: any -> input"),
        .shape = pad_shape,
        .attributes = alternative<PadAttributes>(),
        .anchor = "api-mlgraphbuilder-pad"},
    Row{.name = "reshape",
        .line = "the same elements in the same order",
        .call = signature("input: any -> input"),
        .shape = reshape_shape,
        .attributes = alternative<ReshapeAttributes>(),
        .anchor = "api-mlgraphbuilder-reshape-method"},
    Row{.name = "reverse",
        .line = "the elements along axes from the last to the first",
        .call = signature("input: any -> input"),
        .shape = reverse_shape,
        .attributes = alternative<ReverseAttributes>(),
        .anchor = "api-mlgraphbuilder-reverse-method"},
    Row{.name = "slice",
        .line = "from starts on as many elements as sizes says, each strides-th of them",
        .call = signature("input: any -> input"),
        .shape = slice_shape,
        .attributes = alternative<SliceAttributes>(),
        .anchor = "api-mlgraphbuilder-slice"},
    Row{.name = "split",
        .line = "the parts of the input along axis: equal ones, or of the sizes in splits",
        .call = signature("input: any[1..N] -> outputs...: input"),
        .shape = split_shape,
        .attributes = alternative<SplitAttributes>(),
        .anchor = "api-mlgraphbuilder-split"},
    Row{.name = "tile",
        .line = "the input, repeated along each dimension",
        .call = signature("input: any -> input"),
        .shape = tile_shape,
        .attributes = alternative<TileAttributes>(),
        .anchor = "api-mlgraphbuilder-tile"},
    Row{.name = "transpose",
        .line = "the input with its dimensions in the order of permutation",
        .call = signature("input: any -> input"),
        .shape = transpose_shape,
        .attributes = alternative<TransposeAttributes>(),
        .anchor = "api-mlgraphbuilder-transpose"},
    Row{.name = "triangular",
        .line = "the upper or lower triangle of each matrix, 0 elsewhere",
        .call = signature("input: any[2..N] -> input"),
        .shape = same_shape,
        .attributes = alternative<TriangularAttributes>(),
        .anchor = "api-mlgraphbuilder-triangular"},
};

}  // namespace polychron::ops
