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
  /// Calls that still succeed, of those that make something or give the device work. Later ones
  /// fail with `error`, `failing` of them.
  std::atomic<std::int64_t> calls_left{std::int64_t{1} << 40};
  std::atomic<std::int64_t> failing{std::int64_t{1} << 40};
  std::atomic<std::int64_t> error{-2};      ///< CL_DEVICE_NOT_AVAILABLE
  std::atomic<std::int64_t> present{1};     ///< 0: the machine has no such device
  std::atomic<std::int64_t> sub_groups{1};  ///< 0: the driver lacks Intel's extensions
  std::atomic<std::int64_t> compiles{1};    ///< 0: the driver refuses every program
};

/// The driver's faults, of this process. Found by its name in the driver's library.
SimulatedGpuFaults* simulated_gpu_faults();
}
