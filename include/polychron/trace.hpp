// Recordings of a runtime's actors: see Runtime::start_trace() and docs/tracing.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace polychron {

/// The part of each call that a recording keeps, for `polychron trace replay`.
enum class TraceCalls : std::uint8_t {
  none,      ///< name and time of each call: cannot be replayed
  sizes,     ///< all except the bytes of tensors, constants and results: only their sizes
  payloads,  ///< those bytes too, so that a replay compares results; copies all bytes written
};

/// Options of Runtime::start_trace().
struct TraceOptions {
  /// The most bytes that a recording keeps; a message takes a few tens of bytes. It keeps the
  /// latest records and counts the dropped ones, including any call that is larger than this limit.
  /// Each calling thread takes up to 64 KiB regardless.
  std::size_t max_bytes = std::size_t{64} << 20;
  /// Also time each step of every plan. Costs two clock readings for each step.
  bool steps = false;
  TraceCalls calls = TraceCalls::sizes;  ///< the part of each call that is kept
};

/// Writes a recording (Runtime::trace()) to `path`. The write is atomic: the whole file or nothing,
/// also with concurrent writers. Throws operation_error, out_of_memory.
void save_trace(std::span<const std::byte> trace, const std::filesystem::path& path);

}  // namespace polychron
