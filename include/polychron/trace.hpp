// Recordings of what the actors of a runtime do: see Runtime::start_trace, and docs/tracing.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace polychron {

/// Options of Runtime::start_trace().
struct TraceOptions {
  /// Most bytes that a recording keeps: the latest, a few tens of bytes each message. What it had
  /// to drop is counted in it. (Each thread that calls has 64 KiB in any case.)
  std::size_t max_bytes = std::size_t{64} << 20;
  /// Take the time of each step of every plan, too. Costs two looks at the clock a step.
  bool steps = false;
};

/// Writes a recording (Runtime::trace()) to `path`: the whole file or nothing. Throws
/// operation_error.
void save_trace(std::span<const std::byte> trace, const std::filesystem::path& path);

}  // namespace polychron
