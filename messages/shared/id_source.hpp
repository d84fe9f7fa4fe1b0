// Numbers for the objects of a context.
#pragma once

#include <atomic>
#include <cstdint>

namespace polychron::msg {

/// Numbers 1, 2, 3, … that are never given twice. Thread-safe.
class IdSource {
 public:
  std::uint64_t next() noexcept { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> next_{1};
};

}  // namespace polychron::msg
