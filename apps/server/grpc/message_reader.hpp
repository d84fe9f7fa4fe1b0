// The message of a call, as its bytes arrive: five bytes of prefix, then so many as these say.
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md.
#pragma once

#include <array>
#include <utility>

#include "http/block.hpp"

namespace polychron::server {

class MessageReader {
 public:
  /// A health check needs no room in the budget, and gets no more than this.
  static constexpr std::uint64_t uncounted = 1024;

  /// Its bytes count in the budget as they arrive; of a message that announces more than `most`,
  /// none.
  MessageReader(std::uint64_t most, Budget& budget) : most_(most), budget_(budget) {}

  /// Throws Refusal: too_large, unavailable, bad_request (a second message).
  void add(std::span<const std::byte> bytes) {
    const auto in_prefix = std::min(prefix_.size() - had_, bytes.size());
    std::memcpy(prefix_.data() + had_, bytes.data(), in_prefix);
    had_ += in_prefix;
    if (had_ < prefix_.size()) return;
    if (!block_) begin();
    bytes = bytes.subspan(in_prefix);
    if (bytes.size() > length() - size_)
      throw Refusal(Status::bad_request, "expected one message, and more bytes came");
    if (bytes.empty()) return;
    if (most_ > uncounted) block_->share.set(size_ + bytes.size());
    std::memcpy(block_->bytes.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  /// Once: the block lives as long as its taker needs it. Throws Refusal (bad_request): not all of
  /// it has come.
  Body take() {
    if (!block_ || size_ < length()) throw Refusal(Status::bad_request, "the message is cut short");
    const auto bytes = block_->bytes.bytes();
    return {std::move(block_), bytes};
  }
  std::uint64_t most() const { return most_; }
  bool is_compressed() const { return prefix_[0] != std::byte{0}; }

 private:
  std::size_t length() const {
    std::size_t length = 0;
    for (std::size_t i = 1; i < prefix_.size(); ++i)
      length = length << 8 | std::to_integer<std::size_t>(prefix_[i]);
    return length;
  }
  void begin() {
    if (length() > most_) throw too_large("the message", length(), most_);
    if (most_ > uncounted) budget_.refuse_beyond(length());
    block_ = std::make_shared<Block>(length(), budget_);
  }

  const std::uint64_t most_;
  Budget& budget_;
  std::array<std::byte, 5> prefix_{};
  std::size_t had_ = 0;  ///< bytes of the prefix
  std::shared_ptr<Block> block_;
  std::size_t size_ = 0;
};

}  // namespace polychron::server
