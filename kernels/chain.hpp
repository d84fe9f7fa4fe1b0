// op_chain: operators of each element, joined into one step that walks through the data once.
//
// A problem's post-operations are the steps of its chain, all operands included: operand i of a
// step is input i, or the result of step i - inputs.size(). The last step makes the result. An
// input has the result's shape, or a single element.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/kernel.hpp"

namespace polychron::kernels {

/// A chain has no more steps than this.
inline constexpr std::size_t most_chain_steps = 64;
/// Elements of a chain have at most this size.
inline constexpr std::size_t most_chain_bytes = sizeof(float);

/// True if an operator of this kind can be a step.
bool is_chain_operator(ops::OpId op, const Attributes& attributes);

/// The type that each step makes. nullopt unless `problem` is a chain.
std::optional<std::vector<DataType>> chain_types(const Problem& problem);

/// Step `step` alone, over `count` elements in a row. `types` are those of chain_types().
Problem chain_step(const Problem& problem, const std::vector<DataType>& types, std::size_t step,
                   std::uint32_t count);

/// A kernel without scratch memory for one step, cheap to call. Null if there is none: oneDNN's
/// take 0.3 us a call, as long as a thousand sums (2.6.3).
std::unique_ptr<Kernel> prepare_chain_step(const Problem& step);

}  // namespace polychron::kernels
