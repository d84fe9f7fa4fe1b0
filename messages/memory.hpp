// A tensor's memory and the bytes of the budget that it takes, which live and die together.
#pragma once

#include <memory>

#include "kernels/backend.hpp"
#include "messages/shared/budget.hpp"

namespace polychron::msg {

/// Has one owner at any time: the tensor's slot, or a lease, which takes it over while it is out.
struct Memory {
  std::unique_ptr<kernels::Storage> storage;
  Reservation reservation;
};

/// Bytes that are kept as they came, and what they take of the budget: a constant tensor's, shared
/// with the graphs that are built from it.
struct CountedBytes {
  Buffer bytes;
  Reservation reservation;
};

}  // namespace polychron::msg
