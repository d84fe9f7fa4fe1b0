// Faults of the simulated GPU, which a test sets.
#pragma once

#include <atomic>
#include <cstdint>

extern "C" {

struct SimulatedGpuFaults {
  /// Bytes of memory that the device still has.
  std::atomic<std::int64_t> bytes_left{std::int64_t{1} << 40};
  /// Kernels that still run; every later one fails as if the device were gone.
  std::atomic<std::int64_t> kernels_left{std::int64_t{1} << 40};
  std::atomic<std::int64_t> kernels{0};  ///< that have been started
};

/// The driver's faults, of this process. Found by its name in the driver's library.
SimulatedGpuFaults* simulated_gpu_faults();
}
