// Checks of invariants, in every build, production included.
//
// A broken invariant is a defect of this library, never a user's mistake. It is thrown, so that
// only the affected object is lost: an actor loses its context, the compiler its build, a call
// fails. Execution never goes on silently.
#pragma once

#include <stdexcept>

namespace polychron {

/// A place in the code. (clang 14 has no std::source_location.)
struct SourcePlace {
  const char* file = "";
  int line = 0;
  static constexpr SourcePlace current(const char* file = __builtin_FILE(),
                                       int line = __builtin_LINE()) {
    return {file, line};
  }
};

class BrokenInvariant : public std::logic_error {
 public:
  BrokenInvariant(const char* what_must_hold, const SourcePlace& where);
};

namespace detail {
[[noreturn]] void broken(const char* what_must_hold, const SourcePlace& where);
}

/// Throws BrokenInvariant with the place in the code unless `holds`. Costs one branch.
/// `what_must_hold` is a literal, such as "a turn is issued once".
inline void ensure(bool holds, const char* what_must_hold,
                   const SourcePlace& where = SourcePlace::current(__builtin_FILE(),
                                                                   __builtin_LINE())) {
  if (!holds) [[unlikely]]
    detail::broken(what_must_hold, where);
}

}  // namespace polychron
