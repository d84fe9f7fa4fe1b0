#include "apps/text/network.hpp"

namespace polychron::text::detail {

OperandDescriptor cache_descriptor(const CacheSizes& sizes, std::uint32_t tokens) {
  return {sizes.type, {2 * sizes.layers, sizes.groups, tokens, sizes.features}};
}

}  // namespace polychron::text::detail
