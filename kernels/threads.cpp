#include "kernels/threads.hpp"

#include <omp.h>

namespace polychron::kernels {

void set_threads(int threads) { omp_set_num_threads(threads); }

}  // namespace polychron::kernels
