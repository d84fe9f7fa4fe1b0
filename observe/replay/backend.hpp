// The device of a replay: it fails where the recorded one did, and nowhere else.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.hpp"
#include "observe/replay/script.hpp"

namespace polychron::replay {

/// The work that a context's device is at. Used by one thread.
struct AtWork {
  const Context* context = nullptr;
  const Call* call = nullptr;  ///< whose operation a lane carries out; null if that is not known
  msg::Ticket ticket = 0;      ///< of that operation
  msg::GraphId graph = 0;      ///< that the compiler is at
};

/// Over `inner`, or over nothing: storage without bytes, graphs without steps.
std::shared_ptr<kernels::Backend> make_backend(std::shared_ptr<const AtWork> at,
                                               std::shared_ptr<kernels::Backend> inner);

}  // namespace polychron::replay
