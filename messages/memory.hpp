// A tensor's memory and the bytes of the budget that it takes, which live and die together.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.hpp"
#include "messages/budget.hpp"
#include "polychron/buffer.hpp"

namespace polychron::msg {

/// Owned by a tensor's slot; shared with the holder of a lease, who may outlive the tensor.
struct Memory {
  std::unique_ptr<kernels::Storage> storage;
  Reservation reservation;
};

/// Bytes on their way to a device. They bring their reservation along: the memory that they replace
/// is freed when they arrive.
struct Payload {
  Buffer bytes;
  Reservation reservation;
};
/// Shared, because CAF copies messages; opened by the device.
using PayloadRef = std::shared_ptr<Payload>;

inline std::string describe(const PayloadRef& payload) {
  return payload ? std::to_string(payload->bytes.size()) + " bytes" : "none";
}

}  // namespace polychron::msg
