// The alignment check of memory that a caller gave.
#pragma once

#include <cstdint>
#include <span>

#include "polychron/data_type.hpp"

namespace polychron {

/// True if the elements are aligned. Adopted memory may begin anywhere, but kernels read whole
/// elements.
inline bool aligned_for(DataType type, std::span<const std::byte> bytes) {
  const std::size_t element = is_packed(type) ? 1 : byte_size(type);
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % element == 0;
}

}  // namespace polychron
