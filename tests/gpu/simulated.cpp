#include "tests/gpu/simulated.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernels/devices.hpp"
#include "tests/paths.hpp"

namespace polychron::testing {
namespace {

namespace fs = std::filesystem;

std::string driver() { return binary_directory() + "/lib/libsimulated_gpu.so"; }

std::string offer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "PoCL compiles kernels in the process, which sanitizers do not survive";
#endif
  if (!fs::exists(driver())) return "tests/gpu/driver is not built";
  const fs::path home = fs::path(binary_directory()) / "gpu";
  fs::create_directories(home / "vendors");
  fs::create_directories(home / "cache");
  // Several tests may do this at once. They write the same.
  std::ofstream(home / "vendors/simulated.icd") << driver() << "\n";
  setenv("OCL_ICD_VENDORS", (home / "vendors").c_str(), 1);
  setenv("POCL_CACHE_DIR", (home / "cache").c_str(), 1);
  return "";
}

std::string look() {
  if (auto reason = offer_simulated_gpu(); !reason.empty()) return reason;
  for (const auto& device : kernels::find_devices())
    if (device.name == "gpu")
      return device.unavailable_reason.empty()
                 ? ""
                 : device.unavailable_reason + " (the simulated one needs pocl-opencl-icd)";
  return "there is no device 'gpu'";
}

}  // namespace

std::string offer_simulated_gpu() {
  static const std::string reason = offer();
  return reason;
}

std::string use_simulated_gpu() {
  static const std::string reason = look();
  return reason;
}

SimulatedGpuFaults& gpu_faults() {
  void* const library = dlopen(driver().c_str(), RTLD_NOW | RTLD_NOLOAD);
  auto* const find =
      reinterpret_cast<SimulatedGpuFaults* (*)()>(dlsym(library, "simulated_gpu_faults"));
  return *find();
}

}  // namespace polychron::testing
