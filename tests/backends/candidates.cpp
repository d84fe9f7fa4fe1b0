#include "tests/backends/candidates.hpp"

#include <cstdlib>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/devices.hpp"
#include "observe/replay/backend.hpp"
#include "observe/stress/checked_backend.hpp"
#include "observe/stress/fault_backend.hpp"
#include "observe/stress/symbolic_backend.hpp"
#include "tests/backends/null_backend.hpp"
#include "tests/backends/planted_backend.hpp"
#include "tests/gpu/simulated.hpp"

namespace polychron::testing {
namespace {

using kernels::Backend;

std::shared_ptr<Backend> make_replay() {
  static const replay::Context context{};  // nothing fails in it
  auto at = std::make_shared<replay::AtWork>();
  at->context = &context;
  return replay::make_backend(std::move(at), kernels::make_cpu_backend());
}

Candidate gpu() {
  Candidate gpu{"gpu", [] { return kernels::make_backend("gpu").value(); }};
  gpu.absent = use_simulated_gpu();
  gpu.submits = true;
  gpu.allocates = "OpenCL's loader and driver do as they like";
  if (gpu.absent.empty()) {
    gpu.device_memory = &gpu_faults().bytes_left;
    gpu.lose = [](bool lost) { gpu_faults().calls_left = lost ? 0 : std::int64_t{1} << 40; };
  }
  return gpu;
}

}  // namespace

std::vector<Candidate> candidates() {
  if (const char* const defect = std::getenv(planted_variable)) return {candidate_without(defect)};
  Candidate null{"null", make_null_backend};
  null.computes_nothing = "it has no kernels";
  Candidate symbolic{"symbolic", [] { return std::make_shared<stress::SymbolicBackend>(); }};
  symbolic.kept_bytes = sizeof(std::uint64_t);
  symbolic.computes_by_label = "a label says what a graph computes";
  symbolic.allocates = "it is for searches, not for speed";
  symbolic.takes_any_size = "a tensor is one number";
  symbolic.copies_adopted = "a tensor is one number";
  symbolic.throws = "a search ends without memory";
  Candidate checked{"checked", [] {
                      return std::make_shared<stress::CheckedBackend>(
                          kernels::make_cpu_backend(), std::make_shared<stress::Checks>());
                    }};
  checked.allocates = "it notes every use";
  checked.throws = "a search ends without memory";
  checked.one_thread = "its notes are for the driven world's one thread";
  Candidate fault{"fault", [] {
                    return std::make_shared<stress::FaultBackend>(
                        kernels::make_cpu_backend(), std::make_shared<stress::FaultPlan>());
                  }};
  fault.throws = "it counts each call";
  return {{"cpu", [] { return kernels::make_cpu_backend(); }},
          gpu(),
          null,
          symbolic,
          checked,
          fault,
          {"replay", make_replay}};
}

}  // namespace polychron::testing
