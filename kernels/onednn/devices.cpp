#include "kernels/onednn/devices.hpp"

#include "kernels/fusion.hpp"
#include "kernels/onednn/library.hpp"
#include "kernels/vectors.hpp"

namespace polychron::kernels {

Layout picture_layout() {
  if (vectors() == Vectors::avx512) return Layout::blocked16;
  // On x86 without AVX2 the library's element-wise code writes beyond blocks (2.6.3).
  return has_fused_vectors() ? Layout::blocked8 : Layout::plain;
}

}  // namespace polychron::kernels

namespace polychron::kernels::onednn {
namespace {

std::string isa_name(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41:
      return "sse4.1";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    default:
      return "isa " + std::to_string(static_cast<unsigned>(isa));
  }
}

}  // namespace

std::string library_version() {
  const dnnl_version_t& version = *dnnl_version();
  return "oneDNN " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::string cpu_isa() {
  vectors();  // limits the library
  return isa_name(dnnl::get_effective_cpu_isa());
}

}  // namespace polychron::kernels::onednn
