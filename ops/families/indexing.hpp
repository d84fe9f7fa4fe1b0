// Indexing: elements and slices picked or replaced by number. Every result is exact.
//
// Negative indices count from the end; what is out of range is brought to the nearest bound. Of
// updates to one place the last counts, in the order of the indices.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array indexing_rows{
    Row{.name = "gather",
        .call = signature("input: any[1..N], indices: indices -> input"),
        .shape = gather_shape,
        .attributes = alternative<GatherAttributes>(),
        .anchor = "api-mlgraphbuilder-gather"},
    Row{.name = "gatherElements",
        .call = signature("input: any[1..N], indices: indices[1..N] -> input"),
        .shape = gather_elements_shape,
        .attributes = alternative<GatherAttributes>(),
        .anchor = "api-mlgraphbuilder-gatherelements"},
    Row{.name = "gatherND",
        .call = signature("input: any[1..N], indices: indices[1..N] -> input[0..N]"),
        .shape = gather_nd_shape,
        .anchor = "api-mlgraphbuilder-gathernd"},
    Row{.name = "scatterElements",
        .call = signature("input: any[1..N], indices: indices[1..N], updates: input -> input"),
        .shape = scatter_elements_shape,
        .attributes = alternative<ScatterAttributes>(),
        .anchor = "api-mlgraphbuilder-scatterelements"},
    Row{.name = "scatterND",
        .call =
            signature("input: any[1..N], indices: indices[1..N], updates: input[0..N] -> input"),
        .shape = scatter_nd_shape,
        .anchor = "api-mlgraphbuilder-scatternd"},
};

}  // namespace polychron::ops
