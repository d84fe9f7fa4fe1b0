// Which convolutions of a graph are computed in bands: see kernels/cpu/bands.hpp.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/cpu/plan_graph.hpp"
#include "kernels/kernel.hpp"

namespace polychron::kernels {

struct Banded {
  std::unique_ptr<Kernel> kernel;
  std::string text;  ///< describes it
};

/// Makes one node (op_bands) of a depthwise convolution with the one before it and the 1x1 one
/// behind it, where bands gain by it; its label is theirs. Gives the kernels, by the nodes'
/// results.
std::map<ops::ValueId, Banded> compute_in_bands(PlanGraph& graph);

}  // namespace polychron::kernels
