// triangular: keeps one end of each row and clears the other.
#include <algorithm>
#include <cstring>

#include "kernels/direct/direct.hpp"
#include "kernels/elements.hpp"
#include "kernels/function_kernel.hpp"

namespace polychron::kernels::direct {

KernelResult prepare_triangular(const Problem& problem) {
  if (const auto reason = not_plain(problem)) return refuse(*reason);
  const auto a = std::get<TriangularAttributes>(problem.attributes);
  const auto& [type, shape] = problem.inputs[0].descriptor;
  const Around seen = around(shape, shape.size() - 2);  // matrices, rows, columns
  const std::size_t size = byte_size(type);
  return make_kernel(
      [a, seen, size](const Arguments& arguments) {
        const std::byte* in = arguments.inputs[0];
        std::byte* out = arguments.outputs[0];
        const std::size_t bytes = seen.inner * size;
        for (std::size_t i = 0; i < seen.outer; ++i)
          for (std::size_t row = 0; row < seen.extent; ++row, in += bytes, out += bytes) {
            // The first column that is kept, or the first that is cleared.
            const std::int64_t edge =
                static_cast<std::int64_t>(row) + a.diagonal + (a.upper ? 0 : 1);
            const auto columns = static_cast<std::int64_t>(seen.inner);
            const std::size_t at =
                static_cast<std::size_t>(std::clamp<std::int64_t>(edge, 0, columns)) * size;
            const std::size_t kept = a.upper ? at : 0, cleared = a.upper ? 0 : at;
            if (in != out) std::memcpy(out + kept, in + kept, a.upper ? bytes - at : at);
            std::memset(out + cleared, 0, a.upper ? at : bytes - at);
          }
      },
      0);
}

}  // namespace polychron::kernels::direct
