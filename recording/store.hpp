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

  /// Forgets what it has. At most `bytes` are kept; and a usual piece a thread.
  void begin(std::size_t bytes);
  /// Drops nothing; what is written from now on has no piece.
  void end() noexcept { open_.store(false, std::memory_order_release); }
  bool open() const noexcept { return open_.load(std::memory_order_relaxed); }
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }

  /// The most bytes of a record: one that is larger is dropped.
  std::size_t most_bytes() const noexcept { return most_bytes_.load(std::memory_order_relaxed); }
  /// Gives a thread a piece with room for `bytes`, and takes the one that it had. Throws bad_alloc.
  void renew(Current& current, std::size_t bytes);
  /// Takes a thread's piece, because the thread has ended or the piece is `large`.
  void leave(Current& current) noexcept;
  /// Not of the usual size: threads that idle must not keep such.
  static bool large(const Current& current) noexcept {
    return current.piece && current.piece->size > usual_piece;
  }
  void count_dropped(std::uint64_t records) noexcept {
    dropped_.fetch_add(records, std::memory_order_relaxed);
  }

  struct Contents {
    std::vector<PieceRef> pieces;  ///< in no order between threads
    std::uint64_t dropped = 0;     ///< records
  };
  Contents contents() const;

 private:
  static constexpr std::size_t least_piece = std::size_t{4} << 10,
                               usual_piece = std::size_t{64} << 10;
  void complete(PieceRef piece);
  /// Drops the oldest until what is left fits.
  void trim();

  mutable std::mutex mutex_;
  std::deque<PieceRef> complete_;  ///< the oldest first
  std::vector<PieceRef> live_;
  std::size_t bytes_ = 0;
  std::atomic<std::size_t> most_bytes_{0};  ///< written under the lock
  std::uint64_t threads_ = 0;
  std::atomic<std::uint64_t> epoch_{0}, dropped_{0};
  std::atomic<bool> open_{false};
};

}  // namespace polychron::recording
