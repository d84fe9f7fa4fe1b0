// Tells which part of the model is switched off. See make_switches.cpp, which writes its uses.
#pragma once

#include <cstddef>

namespace polychron::rules {

/// 0: none. Read by the copy of the model, set by the test between its checks.
inline std::size_t off = 0;
/// The place of each switch, from 1 on, and the part that it takes away; nullptr after the last.
extern const char* const switches[];

/// `TrueIf{off == n} | operand`, in a conjunction: switched off, the operand is true.
struct TrueIf {
  bool off;
  template <class T>
  friend bool operator|(TrueIf self, const T& operand) {
    return self.off || static_cast<bool>(operand);
  }
};
/// The same in a disjunction: `FalseIf{off == n} & operand`.
struct FalseIf {
  bool off;
  template <class T>
  friend bool operator&(FalseIf self, const T& operand) {
    return !self.off && static_cast<bool>(operand);
  }
};

}  // namespace polychron::rules
