// What must hold, said where it must: in every build, production's too.
//
// A broken invariant is a defect of this library, never a user's mistake. It is thrown, so that
// whoever runs the code loses what it is about and nothing else: an actor its context, the compiler
// its build, a call itself. It never goes on silently.
#pragma once

#include <source_location>
#include <stdexcept>

namespace polychron {

class BrokenInvariant : public std::logic_error {
 public:
  BrokenInvariant(const char* what_must_hold, const std::source_location& where);
};

namespace detail {
[[noreturn]] void broken(const char* what_must_hold, const std::source_location& where);
}

/// Throws BrokenInvariant, which names the place, unless `holds`. Costs one branch:
/// `what_must_hold` is a literal, such as "a turn is issued once".
inline void ensure(bool holds, const char* what_must_hold,
                   const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]]
    detail::broken(what_must_hold, where);
}

}  // namespace polychron
