// What a recording keeps of calls and of their answers, so that they can be compared when the calls
// are made again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "messages/context.hpp"
#include "messages/wire.hpp"
#include "polychron/buffer.hpp"
#include "recording/records.hpp"

namespace polychron::recording {

/// Memory that is used again from call to call; a record's texts lie in it.
struct CallBytes {
  msg::wire::Writer writer;
  std::vector<std::byte> contents;
};
/// `contents`: the bytes of tensors, constants and buffers are kept. Sets all but context and time.
Called describe(const msg::submit& call, bool contents, CallBytes& bytes);

/// The bytes of tensors, constants and buffers in it.
std::size_t content_bytes(const msg::submit& call) noexcept;

/// Tells contents apart, on any machine; never 0.
std::uint64_t digest_of(std::span<const Buffer> buffers);

}  // namespace polychron::recording
