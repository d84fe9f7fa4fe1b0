// How many threads a kernel may use.
#pragma once

namespace polychron::kernels {

/// Sets the number of OpenMP threads of the calling thread's next kernels. Cheap enough for each
/// execution; the team belongs to the calling thread.
void set_threads(int threads);

}  // namespace polychron::kernels
