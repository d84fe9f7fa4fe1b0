// Memory of a body, which its tensors keep.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "core/service.hpp"
#include "protocol/compression.hpp"
#include "protocol/message.hpp"

namespace polychron::server {

/// A block that a body is read into, and that its tensors keep. A large one takes memory as it
/// fills: its client may announce more than it ever sends.
struct Block {
  Block(std::size_t size, Budget& budget)
      : bytes(size < (1 << 20) ? Buffer::uninitialized(size) : Buffer(size)), share(budget) {}
  Buffer bytes;
  BudgetShare share;
};

/// Where the body begins in its block: so the first binary tensor is aligned to 64 bytes.
inline std::size_t offset_for(std::optional<std::size_t> json_length) {
  constexpr auto border = Buffer::alignment;
  return (border - json_length.value_or(0) % border) % border;
}

/// A body whose length is not known before its end. Its block doubles.
class GrowingBody {
 public:
  GrowingBody(std::size_t offset, std::uint64_t most, Budget& budget)
      : offset_(offset), most_(most), budget_(budget) {}

  /// Free bytes: at least 16 KiB, or up to the one that is too many. Throws Refusal (unavailable).
  std::span<std::byte> space() {
    const auto wanted = offset_ + std::min<std::uint64_t>(most_ + 1, size_ + least);
    if (!block_ || block_->bytes.size() < wanted)
      grow(std::min<std::uint64_t>(2 * wanted, offset_ + most_ + 1));
    return block_->bytes.bytes().subspan(offset_ + size_);
  }
  /// The first `used` of them are filled. Throws Refusal (too_large).
  void add(std::size_t used) {
    size_ += used;
    if (size_ > most_) throw too_large("the body", size_, most_);
  }
  Body take() {
    return {block_,
            block_ ? block_->bytes.bytes().subspan(offset_, size_) : std::span<std::byte>()};
  }

 private:
  static constexpr std::size_t least = 16 * 1024;

  void grow(std::size_t size) {
    const auto block = std::make_shared<Block>(size, budget_);
    block->share.set(size);
    if (block_) std::memcpy(block->bytes.data(), block_->bytes.data(), offset_ + size_);
    block_ = block;
  }

  const std::size_t offset_;
  const std::uint64_t most_;
  Budget& budget_;
  std::shared_ptr<Block> block_;
  std::size_t size_ = 0;
};

/// Decompresses a body that may have `most` bytes. Throws Refusal.
inline Body decompressed(std::span<const std::byte> bytes, std::size_t offset, std::uint64_t most,
                         Budget& budget) {
  GrowingBody plain(offset, most, budget);
  plain.add(decompress(bytes, [&](std::size_t used) {
    plain.add(used);
    return plain.space();
  }));
  return plain.take();
}

}  // namespace polychron::server
