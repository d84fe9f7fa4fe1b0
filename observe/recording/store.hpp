// The memory of a recording: threads fill blocks, and the store drops the oldest.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "observe/recording/block.hpp"

namespace polychron::recording {

/// Thread-safe. Threads take its lock once for each block, not for each record.
class Store {
 public:
  /// The block that a thread writes to. `epoch` is the recording's number: a block with another one
  /// belongs to an earlier recording.
  struct Current {
    BlockRef block;
    std::uint64_t epoch = 0;
    std::uint64_t snapshots = 0;  ///< that had been taken when the thread got its block
    std::uint64_t thread = 0;     ///< 0: no number yet
  };

  /// Discards everything. Keeps at most `bytes` from now on, plus one usual block for each thread.
  void begin(std::size_t bytes);
  /// Keeps everything; later records get no block.
  void end() noexcept { open_.store(false, std::memory_order_release); }
  bool open() const noexcept { return open_.load(std::memory_order_relaxed); }
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }

  /// The most bytes of a record; larger ones are dropped.
  std::size_t most_bytes() const noexcept { return most_bytes_.load(std::memory_order_relaxed); }
  /// Gives a thread a new block with room for `bytes`, and takes back its old one. Throws bad_alloc
  /// or BrokenInvariant. A hook counts a record as dropped then, and contents() throws.
  void renew(Current& current, std::size_t bytes);
  /// Takes back a thread's block, because the thread has ended or the block is `large`.
  void leave(Current& current) noexcept;
  /// True if the block is above the usual size: an idle thread must not keep it.
  static bool large(const Current& current) noexcept {
    return current.block && current.block->size > usual_block;
  }
  void count_dropped(std::uint64_t records) noexcept {
    dropped_.fetch_add(records, std::memory_order_relaxed);
  }

  struct Published {
    BlockRef block;
    std::span<const std::byte> bytes;
  };
  struct Contents {
    std::vector<Published> blocks;  ///< in no order between threads
    std::uint64_t dropped = 0;      ///< records
  };
  /// A consistent snapshot (Chandy and Lamport, 1985): if it lacks a record, it lacks all that the
  /// recorded event led to. A thread compares snapshots() with its own number before it writes, and
  /// renews its block if another one was taken meanwhile. So it waits until that one is complete.
  Contents contents();
  std::uint64_t snapshots() const noexcept { return snapshots_.load(std::memory_order_acquire); }

 private:
  static constexpr std::size_t least_block = std::size_t{4} << 10,
                               usual_block = std::size_t{64} << 10;
  void complete(BlockRef block);
  /// Drops the oldest blocks until the rest fits.
  void trim();

  std::mutex mutex_;
  std::deque<BlockRef> complete_;  ///< the oldest first
  std::vector<BlockRef> live_;
  std::size_t bytes_ = 0;
  std::atomic<std::size_t> most_bytes_{0};  ///< written under the lock
  std::uint64_t threads_ = 0;
  std::atomic<std::uint64_t> epoch_{0}, snapshots_{0}, dropped_{0};
  std::atomic<bool> open_{false};
};

}  // namespace polychron::recording
