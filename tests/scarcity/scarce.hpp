// Failing allocations and threads, on request: this program's operator new and pthread_create fail
// when a test says so.
#pragma once

#include <cstdint>

namespace polychron::testing {

/// Bytes that operator new has given and that were not given back, on all threads.
std::int64_t held_bytes() noexcept;

/// The `nth` allocation from now (1 is the next) on a thread of the library fails, once. The thread
/// that makes one of these is the test's, and no other.
class LibraryAllocationFails {
 public:
  explicit LibraryAllocationFails(std::int64_t nth);
  ~LibraryAllocationFails() { end(); }
  LibraryAllocationFails(const LibraryAllocationFails&) = delete;
  LibraryAllocationFails& operator=(const LibraryAllocationFails&) = delete;
  /// From here on nothing fails.
  void end();
  /// True if the failure happened.
  bool happened() const;
};

/// The same on this thread, while this lives.
class OwnAllocationFails {
 public:
  explicit OwnAllocationFails(std::int64_t nth);
  ~OwnAllocationFails();
  OwnAllocationFails(const OwnAllocationFails&) = delete;
  OwnAllocationFails& operator=(const OwnAllocationFails&) = delete;
  bool happened() const;
};

/// From the `nth` creation of a thread on, on any thread, all fail, while this lives.
class ThreadsRunOut {
 public:
  explicit ThreadsRunOut(std::int64_t nth);
  ~ThreadsRunOut();
  ThreadsRunOut(const ThreadsRunOut&) = delete;
  ThreadsRunOut& operator=(const ThreadsRunOut&) = delete;
  bool happened() const;
};

}  // namespace polychron::testing
