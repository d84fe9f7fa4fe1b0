// Indexing: elements picked by number. Every result is exact.
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
};

}  // namespace polychron::ops
