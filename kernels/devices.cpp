#include "kernels/devices.hpp"

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/onednn/devices.hpp"

namespace polychron::kernels {

namespace {

std::string why_no_gpu() {
  auto problem = onednn::gpu_problem();
  return problem.empty() ? "oneDNN has a GPU engine here, but Polychron has no kernels for it yet"
                         : problem;
}

}  // namespace

std::vector<Device> find_devices() {
  const auto library = onednn::library_version();
  return {{"cpu", library + ", " + onednn::cpu_isa(), ""}, {"gpu", library, why_no_gpu()}};
}

Result<std::shared_ptr<Backend>> make_backend(std::string_view device) {
  if (device == "cpu") return make_cpu_backend();
  if (device == "gpu")
    return Error(ErrorKind::not_supported, "device 'gpu' is not available: " + why_no_gpu());
  return Error(ErrorKind::not_supported,
               "there is no device '" + std::string(device) + "'; known are cpu, gpu");
}

}  // namespace polychron::kernels
