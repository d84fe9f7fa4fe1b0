// Which convolutions are computed in loops of our own: who computes, who cuts and who joins them
// agree on it.
#pragma once

#include "kernels/problem.hpp"

namespace polychron::kernels {

/// By minimal filtering (Winograd's; Lavin and Gray 2015): those of 3x3 side by side in float32,
/// with many channels and pixels, and nothing behind them but an Epilogue. Of few channels the
/// tiles are most of the work; of few pixels it is the filters' way from memory; of one row or
/// column most of a tile is padding. None where the processor has no AVX-512.
bool suits_minimal_filtering(const Problem& problem);

/// Taps of a window that panels of the filter are made for, at most.
inline constexpr std::size_t most_panel_taps = 128;

/// As products with panels of the filter: those without groups in float32, with constant filters,
/// small windows, steps of one or two pixels and nothing behind them but an Epilogue. None where
/// the processor has no AVX-512.
bool suits_panels(const Problem& problem);

/// Channel by channel: depthwise ones in float32, with constant filters of 3x3 or 5x5 side by side,
/// steps of one or two pixels, less padding than a window has and nothing behind them but an
/// Epilogue; pictures then have to be in blocks of 16 channels. None where the processor has no
/// AVX-512.
bool suits_depthwise(const Problem& problem);

/// By oneDNN, in the layouts that the problem has, with more than its reference implementation.
/// Post-operations do not count.
bool library_convolves(const Problem& problem);

}  // namespace polychron::kernels
