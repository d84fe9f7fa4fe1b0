// Reserves bytes of a context's budget, with an error that says how much is left.
#pragma once

#include <algorithm>
#include <memory>

#include "messages/shared/budget.hpp"
#include "polychron/result.hpp"

namespace polychron::msg {

/// Reserves `bytes`, or gives out_of_memory.
inline Result<Reservation> reserve(const std::shared_ptr<Budget>& budget, std::uint64_t bytes) {
  if (auto reservation = Reservation::take(budget, bytes)) return std::move(*reservation);
  return Error(ErrorKind::out_of_memory,
               "out of memory, " + describe_bytes(bytes) + " asked, " +
                   describe_bytes(budget->limit() - std::min(budget->limit(), budget->used())) +
                   " left of the context's " + describe_bytes(budget->limit()));
}

}  // namespace polychron::msg
