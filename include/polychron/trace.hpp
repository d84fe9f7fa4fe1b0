// Recordings of what the actors of a runtime do: see Runtime::start_trace, and docs/tracing.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace polychron {

/// What a recording keeps of the calls, so that they can be made again (`polychron trace replay`).
enum class TraceCalls : std::uint8_t {
  none,      ///< what was called and when: not to be replayed
  sizes,     ///< all but the bytes of tensors, constants and results, of which it knows the number
  payloads,  ///< those bytes, too: results are compared. Copies every byte that is written
};

/// Options of Runtime::start_trace().
struct TraceOptions {
  /// Most bytes that a recording keeps: the latest, a few tens of bytes each message. What it had
  /// to drop is counted in it, as is a call with more bytes than that. (Each thread that calls has
  /// up to 64 KiB in any case.)
  std::size_t max_bytes = std::size_t{64} << 20;
  /// Take the time of each step of every plan, too. Costs two looks at the clock a step.
  bool steps = false;
  TraceCalls calls = TraceCalls::sizes;  ///< what is kept of them
};

/// Writes a recording (Runtime::trace()) to `path`: the whole file or nothing, also if others write
/// there at the same time. Throws operation_error, out_of_memory.
void save_trace(std::span<const std::byte> trace, const std::filesystem::path& path);

}  // namespace polychron
