// Outcomes: the new state of a tensor or graph. A lane tells the object's actor when a state
// changes, and only then. An Outcome is a plain value, which can be serialized.
#pragma once

#include <variant>

#include "messages/ids.hpp"
#include "polychron/error.hpp"

namespace polychron::msg {

/// The tensor has its contents; the graph's plan is loaded.
struct Ready {
  static constexpr const char* name = "ready";
};
/// The tensor's contents are errored, or its creation failed; or the graph's plan could not be
/// loaded.
struct Errored {
  static constexpr const char* name = "errored";
  Error error{ErrorKind::internal, ""};
};
/// Every later dispatch of the graph would fail.
struct Invalid {
  static constexpr const char* name = "invalid";
  Error error{ErrorKind::internal, ""};
};
/// The memory is freed, and no lane will mention the object again.
struct Released {
  static constexpr const char* name = "released";
};

using Outcome = std::variant<Ready, Errored, Invalid, Released>;

inline const char* name_of(const Outcome& outcome) {
  return std::visit([](const auto& alternative) { return alternative.name; }, outcome);
}

}  // namespace polychron::msg
