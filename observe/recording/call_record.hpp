// The calls and answers in a recording, so that a replay can repeat and compare them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "messages/context.hpp"
#include "messages/wire.hpp"
#include "observe/recording/records.hpp"
#include "polychron/buffer.hpp"

namespace polychron::recording {

/// Memory that calls reuse; the texts of a record refer to it.
struct CallBytes {
  msg::wire::Writer writer;
  std::vector<std::byte> contents;
};
/// `contents`: keep the bytes of tensors, constants and buffers. Sets all fields except context and
/// time.
Called describe(const msg::submit& call, bool contents, CallBytes& bytes);

/// The bytes of tensors, constants and buffers in it.
std::size_t content_bytes(const msg::submit& call) noexcept;

/// A hash of the contents, equal on all machines; never 0.
std::uint64_t digest_of(std::span<const Buffer> buffers);

}  // namespace polychron::recording
