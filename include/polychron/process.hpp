// The process that made an object: a forked child has none of its parent's threads.
#pragma once

#include <cstdint>

#include "polychron/error.hpp"

namespace polychron::detail {

/// The number of forks between the start of the program and this process.
std::uint32_t fork_generation() noexcept;
/// The error of calls on objects made before a fork. Made early, so that it needs no memory.
const Error& forked_error() noexcept;

/// The process in which an object was made. In a forked child the object has no threads, and a
/// thread of the parent may hold its locks for ever. So there its calls must fail before they lock,
/// and its end must do nothing. Thread-safe.
class Process {
 public:
  Process() noexcept : generation_(fork_generation()) {}

  /// True in a child that was forked since.
  bool forked() const noexcept { return generation_ != fork_generation(); }
  /// Throws invalid_state in such a child.
  void check() const {
    if (forked()) throw Error(forked_error());
  }

 private:
  const std::uint32_t generation_;
};

}  // namespace polychron::detail
