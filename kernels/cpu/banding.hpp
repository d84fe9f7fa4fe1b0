// The choice of the convolutions that are computed in bands: see kernels/cpu/bands.hpp.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/cpu/plan_graph.hpp"
#include "kernels/kernel.hpp"

namespace polychron::kernels {

struct Banded {
  std::unique_ptr<Kernel> kernel;
  std::string text;  ///< describes the kernel
};

/// Joins each depthwise convolution with the convolution before it and the 1x1 one behind it into
/// one node (op_bands), if bands gain by it. The node's label names all of them. Returns the
/// kernels by the nodes' results.
std::map<ops::ValueId, Banded> compute_in_bands(PlanGraph& graph);

}  // namespace polychron::kernels
