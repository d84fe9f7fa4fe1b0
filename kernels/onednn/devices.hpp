// The version, instruction set and GPU that oneDNN finds on this machine.
#pragma once

#include <string>

namespace polychron::kernels::onednn {

/// "oneDNN 2.6.3"
std::string library_version();
/// The instruction set in use: "avx512_core_amx".
std::string cpu_isa();
/// The reason why there is no GPU engine; empty if there is one. Call it only to use a GPU: it
/// loads every OpenCL driver of the machine, and some drivers leave threads running.
std::string gpu_problem();

}  // namespace polychron::kernels::onednn
