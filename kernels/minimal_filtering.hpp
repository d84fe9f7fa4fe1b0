// Which convolutions gain by minimal filtering (Winograd's; Lavin and Gray 2015): who computes and
// who cuts them agree on it.
#pragma once

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// Those of 3x3 side by side in float32, with many channels and pixels, and nothing behind them but
/// a picture that is added and relu. Of few channels the tiles are most of the work; of few pixels
/// it is the filters' way from memory; of one row or column most of a tile is padding. None where
/// the processor has no AVX-512.
bool suits_minimal_filtering(const Problem& problem);

}  // namespace polychron::kernels
