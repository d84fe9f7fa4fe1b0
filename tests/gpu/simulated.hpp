// The simulated GPU of tests/gpu/driver, for a test's own process.
#pragma once

#include <string>

#include "tests/gpu/driver/faults.hpp"

namespace polychron::testing {

/// Offers the simulated GPU to this process, without looking for devices. To be called before the
/// process looks for some. Returns the reason why that is not possible; empty if it is.
std::string offer_simulated_gpu();

/// Makes the simulated GPU the only one of this process. To be called before the process looks for
/// devices. Returns the reason why there is none; empty if there is one.
std::string use_simulated_gpu();

/// The device's faults. Only once use_simulated_gpu() has found it.
SimulatedGpuFaults& gpu_faults();

}  // namespace polychron::testing
