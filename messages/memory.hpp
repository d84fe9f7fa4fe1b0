// A tensor's memory together with its reserved bytes of the budget.
#pragma once

#include <memory>

#include "kernels/backend.hpp"
#include "messages/shared/budget.hpp"

namespace polychron::msg {

/// Has one owner at any time: the tensor's slot, or the lease while it is out.
struct Memory {
  std::unique_ptr<kernels::Storage> storage;
  Reservation reservation;
};

/// Immutable bytes and their reservation: those of a constant tensor, shared with the graphs that
/// are built from it.
struct CountedBytes {
  Buffer bytes;
  Reservation reservation;
};

}  // namespace polychron::msg
