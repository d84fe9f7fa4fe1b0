#include "kernels/devices.hpp"

#include <array>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/gpu/gpu_backend.hpp"
#include "kernels/onednn/devices.hpp"
#include "kernels/processor.hpp"
#include "ops/table.hpp"

namespace polychron::kernels {

namespace {

/// The vectors of our own loops, and why they are not wider.
std::string loops_text() {
#if defined(__x86_64__)
  const Vectors used = vectors();
  if (used == Vectors::avx512) return "own loops: AVX-512";
  const int exists =
      used == Vectors::avx2 ? __builtin_cpu_supports("avx512f") : __builtin_cpu_supports("avx2");
  const std::string wider = used == Vectors::avx2 ? "AVX-512" : "AVX2";
  const std::string why =
      exists == 0 ? "the processor has no " + wider
                  : "limited by " + std::string(vectors_variable) + " or oneDNN, without " + wider;
  return std::string("own loops: ") + (used == Vectors::avx2 ? "AVX2" : "SSE4.1") + " (" + why +
         ")";
#else
  return "own loops: NEON";
#endif
}

/// What the loops of 8-bit products use: where no instruction adds four of them, pairs.
std::string bytes_text() {
#if defined(__x86_64__)
  const std::string name = "VNNI";
#else
  const std::string name = "dot product";
#endif
  return "8-bit products: " + (has_four_products() ? name : "pairs (without " + name + ")");
}

Device find_cpu() {
  Device cpu{"cpu",
             onednn::library_version() + ", " + onednn::cpu_isa() + ", " + loops_text() + ", " +
                 bytes_text(),
             "",
             {}};
  for (const ops::Row& row : ops::rows()) cpu.operators.push_back(ops::id(row));
  return cpu;
}
Result<std::shared_ptr<Backend>> make_cpu() {
  if (auto why = wrong_vectors()) return Error(ErrorKind::not_supported, *std::move(why));
  return make_cpu_backend();
}

/// A kind of device. A new backend is a row here.
struct Driver {
  std::string_view name;
  Device (*find)();
  Result<std::shared_ptr<Backend>> (*make)();
};
constexpr std::array drivers{Driver{"cpu", find_cpu, make_cpu},
                             Driver{"gpu", find_gpu, make_gpu_backend}};

}  // namespace

std::vector<Device> find_devices() {
  std::vector<Device> devices;
  for (const Driver& driver : drivers) devices.push_back(driver.find());
  return devices;
}

Result<std::shared_ptr<Backend>> make_backend(std::string_view device) {
  std::string known;
  for (const Driver& driver : drivers) {
    known += (known.empty() ? "" : ", ") + std::string(driver.name);
    if (driver.name != device) continue;
    auto backend = driver.make();
    if (backend) return backend;
    return Error(ErrorKind::not_supported, "device '" + std::string(device) +
                                               "' is not available: " + backend.error().message());
  }
  return Error(ErrorKind::not_supported,
               "there is no device '" + std::string(device) + "'; known are " + known);
}

}  // namespace polychron::kernels
