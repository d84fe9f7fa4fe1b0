#include "kernels/threads.hpp"

#include <omp.h>

namespace polychron::kernels {

void use_one_thread() noexcept { omp_set_num_threads(1); }

void use_standard_arithmetic() noexcept { std::fesetenv(FE_DFL_ENV); }

OnCallersThread::OnCallersThread() noexcept : threads_(omp_get_max_threads()) {
  std::fegetenv(&arithmetic_);
  use_standard_arithmetic();
}

OnCallersThread::~OnCallersThread() {
  std::fesetenv(&arithmetic_);
  omp_set_num_threads(threads_);
}

}  // namespace polychron::kernels
