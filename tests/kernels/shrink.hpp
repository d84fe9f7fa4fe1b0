// Makes a failing call smaller: greedily, as long as it fails.
#pragma once

#include <functional>

#include "tests/kernels/generated_call.hpp"

namespace polychron::tests {

using Fails = std::function<bool(const GeneratedCall&)>;

/// The smallest call found that still fails: operands left out or not known before, attributes at
/// their defaults, smaller and fewer dimensions, zeros and ones for numbers. `tries`: the most
/// calls that are tried. A call that the specification does not allow is never tried.
GeneratedCall shrunk(GeneratedCall call, const Fails& fails, int tries = 4000);

/// The call as a conformance case, with what the reference computes and the row's tolerance: a file
/// of one case, in one line.
std::string case_text(const GeneratedCall& call, const std::string& name);

/// The text of a case for a graph, with the bytes of its inputs and of its expected outputs.
std::string case_text(const ops::Graph& graph, const std::vector<Buffer>& inputs,
                      const std::vector<Buffer>& outputs, const std::string& name,
                      const std::string& metric, double tolerance);

}  // namespace polychron::tests
