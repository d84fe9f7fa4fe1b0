// Leases in the driven world, and the values in them.
#pragma once

#include <cstring>

#include "tests/protocol/fixture.hpp"

namespace polychron::testing {

inline TensorLease rent(Server& s, const Tensor& t, LeaseMode mode = LeaseMode::wait) {
  return s.world.settle(s.context.export_tensor(t, mode)).value();
}
inline void set(const TensorLease& lease, std::uint64_t value) {
  std::memcpy(lease.bytes().data(), &value, sizeof value);
}

}  // namespace polychron::testing
