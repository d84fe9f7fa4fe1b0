// Shared by the fuzz targets: one context, a check of an Error, and running a small graph.
#pragma once

#include <cstdint>
#include <span>

#include "polychron/polychron.hpp"

namespace fuzz {

/// Reports a finding: says what is wrong, and aborts.
[[noreturn]] void finding(const std::string& what);

/// A living context of the process's one runtime, which takes a few MiB for tensors and plans.
polychron::Context& context();

/// A refusal must be of a kind that wrong arguments and bad files lead to. Any other is a finding.
void check_refusal(const polychron::Error& error);

/// Builds the graph, and runs it once if that costs little: inputs are filled from `pattern`. The
/// outputs must have the promised shapes.
void build_and_run(polychron::GraphBuilder& builder, const polychron::NamedOperands& outputs,
                   std::span<const std::uint8_t> pattern);

/// Operators on this many elements take well under a second, sanitized.
inline constexpr std::uint64_t small = 1024;

/// `size` bytes: `pattern` again and again, or zeros without one.
polychron::Buffer filled(std::size_t size, std::span<const std::uint8_t> pattern);

}  // namespace fuzz
