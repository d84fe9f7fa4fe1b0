// What oneDNN finds on this machine.
#pragma once

#include <string>

namespace polychron::kernels::onednn {

/// Version, instruction set in use, and the GPU engine or the reason why there is none.
struct Devices {
  std::string library;  ///< "oneDNN 2.6.3"
  std::string cpu_isa;  ///< "avx512_core_amx"
  bool gpu = false;
  std::string gpu_note;  ///< the engine's kind, or why there is none
};
Devices probe_devices();

}  // namespace polychron::kernels::onednn
