// A kernel that computes convolutions one after the other in bands: see kernels/cpu/bands.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/kernel.hpp"

namespace polychron::kernels {

/// A kernel for the convolutions `links`, of which each result is the next one's picture. Its
/// inputs are theirs in turn, without these; its output is the last one's. Its parts are some bands
/// each. Null if bands gain nothing or a library does not have them. `count`: of bands; 0: as many
/// as are best. `text` describes it.
std::unique_ptr<Kernel> prepare_in_bands(std::span<const Problem> links, std::string& text,
                                         std::size_t count = 0);

}  // namespace polychron::kernels
