// The memory of a recording: pieces that threads fill, and of which the oldest are dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "recording/piece.hpp"

namespace polychron::recording {

/// Thread-safe. Its lock is taken once a piece, not once a record.
class Store {
 public:
  /// What a thread writes into at the moment. `epoch` tells recordings apart: with another one the
  /// piece belongs to a recording that is over.
  struct Current {
    PieceRef piece;
    std::uint64_t epoch = 0;
    std::uint64_t thread = 0;  ///< 0 until it has a number
  };

  /// Forgets what it has. At most `bytes` are kept, but for one piece a thread.
  void begin(std::size_t bytes);
  /// Drops nothing; what is written from now on has no piece.
  void end() noexcept { open_.store(false, std::memory_order_release); }
  bool open() const noexcept { return open_.load(std::memory_order_relaxed); }
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }

  /// Gives a thread a piece with room for `bytes`, and takes the one that it had. Throws bad_alloc.
  void renew(Current& current, std::size_t bytes);
  /// The thread has ended.
  void leave(Current& current) noexcept;
  void count_dropped(std::uint64_t records) noexcept {
    dropped_.fetch_add(records, std::memory_order_relaxed);
  }

  struct Contents {
    std::vector<PieceRef> pieces;  ///< in no order between threads
    std::uint64_t dropped = 0;     ///< records
  };
  Contents contents() const;

 private:
  void complete(PieceRef piece);

  mutable std::mutex mutex_;
  std::deque<PieceRef> complete_;  ///< the oldest first
  std::vector<PieceRef> live_;
  std::size_t bytes_ = 0, most_bytes_ = 0;
  std::uint64_t threads_ = 0;
  std::atomic<std::uint64_t> epoch_{0}, dropped_{0};
  std::atomic<bool> open_{false};
};

}  // namespace polychron::recording
