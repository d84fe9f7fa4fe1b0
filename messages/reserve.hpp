// Reserves bytes of a context's budget, with an error that says how much is left.
#pragma once

#include <algorithm>
#include <memory>

#include "kernels/backend.hpp"
#include "messages/shared/budget.hpp"
#include "polychron/result.hpp"

namespace polychron::msg {

inline Error over_budget(const Budget& budget, std::uint64_t bytes) {
  return Error(ErrorKind::out_of_memory,
               "out of memory, " + describe_bytes(bytes) + " asked, " +
                   describe_bytes(budget.limit() - std::min(budget.limit(), budget.used())) +
                   " left of the context's memory_limit of " + describe_bytes(budget.limit()));
}

/// Reserves `bytes`, or gives out_of_memory.
inline Result<Reservation> reserve(const std::shared_ptr<Budget>& budget, std::uint64_t bytes) {
  if (auto reservation = Reservation::take(budget, bytes)) return std::move(*reservation);
  return over_budget(*budget, bytes);
}

/// Reserves what `plan` keeps, or gives out_of_memory.
inline Result<ConstantsReservation> reserve_constants(const std::shared_ptr<Budget>& budget,
                                                      const kernels::Plan& plan) {
  const auto shared = plan.constants();
  const std::uint64_t own = plan.constant_bytes() - kernels::total_bytes(shared);
  if (auto reservation = ConstantsReservation::take(budget, own, {shared.begin(), shared.end()}))
    return std::move(*reservation);
  return over_budget(*budget, plan.constant_bytes());
}

}  // namespace polychron::msg
