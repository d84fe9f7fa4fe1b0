// WHAT became of a tensor or graph: a lane tells the object's actor when a state changes, and only
// then. An Outcome is a plain value, and can be written down.
#pragma once

#include <variant>

#include "messages/ids.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

/// The tensor holds what was called for; the graph's plan is there.
struct Ready {
  static constexpr const char* name = "ready";
};
/// The tensor cannot be read as data, or never came to be; the graph's plan could not be loaded.
struct Errored {
  static constexpr const char* name = "errored";
  Error error{ErrorKind::internal, ""};
};
/// Every later dispatch of the graph would fail.
struct Invalid {
  static constexpr const char* name = "invalid";
  Error error{ErrorKind::internal, ""};
};
/// The memory is back, and no lane will mention the object again.
struct Released {
  static constexpr const char* name = "released";
};

using Outcome = std::variant<Ready, Errored, Invalid, Released>;

inline const char* name_of(const Outcome& outcome) {
  return std::visit([](const auto& alternative) { return alternative.name; }, outcome);
}

}  // namespace polychron::msg
