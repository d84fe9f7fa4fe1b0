// Elements picked by number.
#include <algorithm>
#include <cstring>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/types.hpp"
#include "kernels/reference/walk.hpp"
#include "ops/table.hpp"

namespace polychron::kernels::reference {
namespace {

using ops::op;

/// Negative indices count from the end; what is out of range is brought to the nearest bound.
template <class I>
std::int64_t bounded(I index, std::int64_t extent) {
  if constexpr (std::is_signed_v<I>) {
    const std::int64_t wide =
        index < 0 ? static_cast<std::int64_t>(index) + extent : static_cast<std::int64_t>(index);
    return std::clamp<std::int64_t>(wide, 0, extent - 1);
  } else {
    const auto last = static_cast<std::uint64_t>(extent - 1);
    return static_cast<std::int64_t>(std::min<std::uint64_t>(index, last));
  }
}

void gather(const Call& call) {
  const std::uint32_t axis = std::get<GatherAttributes>(call.problem.attributes).axis;
  const Shape& shape = call.in_shape(0);
  const auto inner = static_cast<std::size_t>(strides_of(shape)[axis]) * byte_size(call.in_type());
  const std::int64_t outer = count_of({shape.data(), axis});
  const std::int64_t extent = shape[axis], count = count_of(call.in_shape(1));
  with_element(call.in_type(1), [&]<class I>(I) {
    if constexpr (std::is_integral_v<I>) {
      const I* indices = call.in<I>(1);
      std::byte* out = call.outputs[0];
      for (std::int64_t i = 0; i < outer; ++i)
        for (std::int64_t k = 0; k < count; ++k, out += inner) {
          const auto row = static_cast<std::size_t>(i * extent + bounded(indices[k], extent));
          std::memcpy(out, call.inputs[0] + row * inner, inner);
        }
    }
  });
}

constexpr Entry entries[] = {{op("gather"), gather}};

}  // namespace

std::span<const Entry> indexing_entries() noexcept { return entries; }

}  // namespace polychron::kernels::reference
