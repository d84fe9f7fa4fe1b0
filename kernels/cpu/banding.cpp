#include "kernels/cpu/banding.hpp"

#include <algorithm>

#include "base/invariant.hpp"
#include "kernels/cpu/band_kernel.hpp"
#include "kernels/cpu/bands.hpp"
#include "kernels/kernel.hpp"
#include "ops/layouts.hpp"

namespace polychron::kernels {
namespace {

using ops::ValueId;

class Banding {
 public:
  explicit Banding(PlanGraph& graph) : graph_(graph), uses_(graph) {}

  std::map<ValueId, Banded> run() {
    std::map<ValueId, Banded> made;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is_depthwise(i)) continue;
      const auto chain = chain_around(i);
      if (chain.size() < 2) continue;
      std::vector<Problem> links;
      for (const std::size_t node : chain) links.push_back(problem_of(graph_, graph_.nodes[node]));
      Banded banded;
      banded.kernel = prepare_in_bands(links, banded.text);
      if (banded.kernel) made.emplace(join(chain), std::move(banded));
    }
    graph_.sweep();
    return made;
  }

 private:
  /// The node's attributes if it is a convolution that can be computed row by row and is not yet
  /// part of a chain; else null.
  const Conv2dAttributes* convolution(std::size_t node) const {
    if (node == Uses::none || graph_.nodes[node].removed) return nullptr;
    const PlanNode& found = graph_.nodes[node];
    const auto* const a = std::get_if<Conv2dAttributes>(&found.attributes);
    if (found.op != ops::op("conv2d") || a == nullptr) return nullptr;
    return has_rows(problem_of(graph_, found)) && result(node).layout != Layout::plain ? a
                                                                                       : nullptr;
  }
  const PlanValue& result(std::size_t node) const {
    return graph_.values[graph_.nodes[node].outputs[0]];
  }
  bool is_depthwise(std::size_t node) const {
    const auto* const a = convolution(node);
    return a != nullptr && a->groups > 1 && a->groups == result(node).descriptor.shape[1] &&
           a->groups == graph_.values[graph_.nodes[node].inputs[0]].descriptor.shape[1];
  }
  bool is_pointwise(std::size_t node) const {
    const auto* const a = convolution(node);
    if (a == nullptr || a->groups != 1) return false;
    const Shape& filter = graph_.values[graph_.nodes[node].inputs[1]].descriptor.shape;
    const auto order = ops::filter_axes(a->filter_layout);
    return filter[order[2]] == 1 && filter[order[3]] == 1;
  }

  /// The convolution before the depthwise one, the depthwise one, and the one behind it.
  std::vector<std::size_t> chain_around(std::size_t depthwise) const {
    std::vector<std::size_t> chain{depthwise};
    const ValueId picture = graph_.nodes[depthwise].inputs[0];
    const std::size_t before = uses_.producer[picture];
    const auto* const a = convolution(before);
    if (a != nullptr && a->groups == 1 && only_consumer(graph_, uses_, picture) == depthwise &&
        way_of(problem_of(graph_, graph_.nodes[before])) != by_minimal_filtering)
      chain.insert(chain.begin(), before);
    const ValueId made = graph_.nodes[depthwise].outputs[0];
    const std::size_t behind = only_consumer(graph_, uses_, made);
    if (is_pointwise(behind) && graph_.nodes[behind].inputs[0] == made) chain.push_back(behind);
    return chain;
  }

  /// Replaces the chain by one node, in the place of the last one. Returns its result.
  ValueId join(const std::vector<std::size_t>& chain) {
    ensure(chain.size() > 1, "bands join several steps");
    PlanNode joined;
    joined.op = op_bands;
    for (const std::size_t index : chain) {
      PlanNode& node = graph_.nodes[index];
      ensure(!node.removed && node.outputs.size() == 1, "a step is joined once");
      const auto skipped = static_cast<std::ptrdiff_t>(index == chain.front() ? 0 : 1);
      joined.inputs.insert(joined.inputs.end(), node.inputs.begin() + skipped, node.inputs.end());
      if (!node.label.empty()) joined.label += (joined.label.empty() ? "" : ", ") + node.label;
      node.removed = true;
    }
    PlanNode& last = graph_.nodes[chain.back()];
    joined.outputs = last.outputs;
    joined.own_inputs = joined.inputs.size();
    last = std::move(joined);
    return last.outputs[0];
  }

  PlanGraph& graph_;
  const Uses uses_;  ///< nodes keep their places until sweep()
};

}  // namespace

std::map<ValueId, Banded> compute_in_bands(PlanGraph& graph) { return Banding(graph).run(); }

}  // namespace polychron::kernels
