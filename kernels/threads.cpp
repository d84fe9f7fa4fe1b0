#include "kernels/threads.hpp"

#include <omp.h>

namespace polychron::kernels {

void set_threads(int threads) { omp_set_num_threads(threads); }

int threads() noexcept { return omp_get_max_threads(); }

void use_standard_arithmetic() noexcept { std::fesetenv(FE_DFL_ENV); }

OnCallersThread::OnCallersThread() noexcept : threads_(threads()) {
  std::fegetenv(&arithmetic_);
  use_standard_arithmetic();
}

OnCallersThread::~OnCallersThread() {
  std::fesetenv(&arithmetic_);
  set_threads(threads_);
}

}  // namespace polychron::kernels
