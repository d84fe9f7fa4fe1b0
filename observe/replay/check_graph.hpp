// Graph descriptions from outside, which no builder has checked.
#pragma once

#include <string>
#include <vector>

#include "ops/graph.hpp"

namespace polychron::replay {

/// Throws bad_data for values, inputs and outputs that no graph has.
void check_values(const ops::Graph& graph);
/// `graph`, as a builder could have made it, its operators renumbered from `operators` (their
/// names, by the numbers in the graph) to this library's. Throws bad_data or type_error for others.
ops::Graph checked(ops::Graph graph, const std::vector<std::string>& operators);

}  // namespace polychron::replay
