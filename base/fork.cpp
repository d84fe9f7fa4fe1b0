// Detects a forked child, in which a runtime has no threads and must refuse calls.
#include <pthread.h>

#include <atomic>

#include "polychron/future.hpp"
#include "polychron/process.hpp"

namespace polychron::detail {

namespace {

std::atomic<std::uint32_t> generation{0};

// Registered when the library is loaded, before there is a runtime to fork.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });

}  // namespace

std::uint32_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

const Error& dropped_error() noexcept {
  static const Error& error =
      *new Error(ErrorKind::invalid_state, "the promise of this reply was dropped");
  return error;
}

const Error& forked_error() noexcept {
  static const Error& error =
      *new Error(ErrorKind::invalid_state,
                 "this process was forked from the one that has the runtime: make a new Runtime");
  return error;
}

namespace {
[[maybe_unused]] const Error& dropped_early = dropped_error();
[[maybe_unused]] const Error& forked_early = forked_error();
}  // namespace

}  // namespace polychron::detail
