// Checks of invariants, in every build, for code that stands on the public API: the importer, a
// binding, a server.
#pragma once

#include <string>

#include "polychron/error.hpp"

namespace polychron {

/// Throws Error (internal), which names what must hold, unless it `holds`. A broken invariant is a
/// defect of the code that asks, never a user's mistake: it ends the call, not the process.
/// `what_must_hold` is a literal, such as "a build ends once". Thread-safe.
inline void check_invariant(bool holds, const char* what_must_hold) {
  if (!holds) [[unlikely]]
    throw Error(ErrorKind::internal,
                std::string("a broken invariant, please report it: ") + what_must_hold);
}

}  // namespace polychron
