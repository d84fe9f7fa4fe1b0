// A kernel that computes successive convolutions in bands: see kernels/cpu/bands.hpp.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "kernels/kernel.hpp"

namespace polychron::kernels {

/// A kernel for the convolutions `links`, in which each result is the next one's picture. Its
/// inputs are the inputs of all links in turn, without these pictures. Its output is the last one's
/// output. Each part computes some bands. `count` is the number of bands; 0 chooses the best one.
/// `text` describes the kernel. Null if bands gain nothing or a library lacks a kernel.
std::unique_ptr<Kernel> prepare_in_bands(std::span<const Problem> links, std::string& text,
                                         std::size_t count = 0);

}  // namespace polychron::kernels
