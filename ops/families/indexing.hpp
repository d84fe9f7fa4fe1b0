// Indexing: elements and slices picked, replaced or changed by number. What is moved is exact.
//
// Negative indices count from the end; indices out of range are clamped to the nearest bound. If
// several updates hit one element, the last one in the order of the indices wins.
#pragma once

#include <array>

#include "ops/shape_rules.hpp"

namespace polychron::ops {

inline constexpr std::array indexing_rows{
    Row{.name = "gather",
        .line = "the slices of the input along axis at indices, which count from the end if "
                "negative and are kept in range",
        .call = signature("input: any[1..N], indices: indices -> input"),
        .shape = gather_shape,
        .shapes = "the input's, with all of the indices' in the place of axis",
        .attributes = alternative<GatherAttributes>(),
        .anchor = "api-mlgraphbuilder-gather"},
    Row{.name = "gatherElements",
        .line = "the elements of the input at indices along axis, which count from the end if "
                "negative and are kept in range",
        .call = signature("input: any[1..N], indices: indices[1..N] -> input"),
        .shape = gather_elements_shape,
        .shapes = "the indices', which is the input's but along axis",
        .attributes = alternative<GatherAttributes>(),
        .anchor = "api-mlgraphbuilder-gatherelements"},
    Row{.name = "gatherND",
        .line = "the slices of the input at the coordinates in the last dimension of indices, "
                "which count from the end if negative and are kept in range",
        .call = signature("input: any[1..N], indices: indices[1..N] -> input[0..N]"),
        .shape = gather_nd_shape,
        .shapes =
            "the indices' without its last dimension, n; then the input's without its first n",
        .anchor = "api-mlgraphbuilder-gathernd"},
    Row{.name = "scatterElements",
        .line = "the input with updates at indices along axis, which count as for "
                "gatherElements; of two for one place the last stays",
        .call = signature("input: any[1..N], indices: indices[1..N], updates: input -> input"),
        .shape = scatter_elements_shape,
        .shapes = "the input's; updates has the indices', which is the input's but along axis",
        .attributes = alternative<ScatterAttributes>(),
        .anchor = "api-mlgraphbuilder-scatterelements"},
    Row{.name = "scatterND",
        .line = "the input with updates at the coordinates in the last dimension of indices, "
                "which count as for gatherND; of two for one place the last stays",
        .call =
            signature("input: any[1..N], indices: indices[1..N], updates: input[0..N] -> input"),
        .shape = scatter_nd_shape,
        .shapes = "the input's; updates has the indices' without its last dimension, n, then the "
                  "input's without its first n",
        .anchor = "api-mlgraphbuilder-scatternd"},
    // WebNN has no such operator, and no short combination of operators computes it: docs/onnx.md.
    Row{.name = "scatterReduce",
        .line = "the input, whose elements are added to, multiplied by, or compared with updates "
                "one after the other, at coordinates that count as for gatherND",
        .call =
            signature("input: any[1..N], indices: indices[1..N], updates: input[0..N] -> input"),
        .shape = scatter_nd_shape,
        .shapes = "the input's; updates has the indices' without its last dimension, n, then the "
                  "input's without its first n",
        .attributes = alternative<ScatterReduceAttributes>(),
        .tolerance = ulp_per_term(1),
        .anchor = ""},
};

}  // namespace polychron::ops
