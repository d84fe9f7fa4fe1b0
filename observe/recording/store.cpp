#include "observe/recording/store.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/invariant.hpp"

namespace polychron::recording {

void Store::begin(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  complete_.clear();
  live_.clear();
  bytes_ = 0;
  most_bytes_.store(bytes, std::memory_order_relaxed);
  dropped_.store(0, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  open_.store(true, std::memory_order_release);
}

void Store::renew(Current& current, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto now = epoch_.load(std::memory_order_relaxed);
  if (current.block && current.epoch == now) complete(std::exchange(current.block, nullptr));
  if (current.thread == 0) current.thread = ++threads_;
  const auto size = std::max(bytes, std::clamp(most_bytes() / 16, least_block, usual_block));
  if (size > std::max(most_bytes(), usual_block)) throw std::bad_alloc();
  live_.push_back(std::make_shared<Block>(current.thread, size));
  bytes_ += size;
  current.block = live_.back();
  current.epoch = now;
  current.snapshots = snapshots_.load(std::memory_order_relaxed);
  trim();
}

void Store::leave(Current& current) noexcept {
  const std::lock_guard lock(mutex_);
  auto block = std::exchange(current.block, nullptr);
  if (!block || current.epoch != epoch_.load(std::memory_order_relaxed)) return;
  const auto records = block->records.load(std::memory_order_relaxed);
  try {
    complete(std::move(block));
  } catch (...) {  // no memory: its records are lost
    count_dropped(records);
  }
}

void Store::complete(BlockRef block) {
  ensure(std::erase(live_, block) == 1, "a block is one thread's until it is complete");
  bytes_ -= block->size;  // without memory it goes
  // A thread that ends after few records must not keep a whole block.
  if (const auto used = block->published(); used.size() < block->size / 2) {
    const auto small = std::make_shared<Block>(block->thread, used.size());
    std::copy(used.begin(), used.end(), small->memory.get());
    small->used.store(used.size(), std::memory_order_relaxed);
    small->records.store(block->records.load(std::memory_order_relaxed), std::memory_order_relaxed);
    block = small;
  }
  complete_.push_back(std::move(block));
  bytes_ += complete_.back()->size;
  trim();
}

void Store::trim() {
  while (bytes_ > most_bytes() && !complete_.empty()) {
    ensure(bytes_ >= complete_.front()->size, "the store counts its blocks' bytes");
    count_dropped(complete_.front()->records.load(std::memory_order_relaxed));
    bytes_ -= complete_.front()->size;
    complete_.pop_front();
  }
}

Store::Contents Store::contents() {
  const std::lock_guard lock(mutex_);
  snapshots_.fetch_add(1, std::memory_order_seq_cst);  // before the first look at a block
  Contents contents{{}, dropped_.load(std::memory_order_relaxed)};
  std::size_t bytes = 0;
  const auto add = [&](const BlockRef& block) {
    contents.blocks.push_back({block, block->published()});
    bytes += block->size;
  };
  std::ranges::for_each(complete_, add);
  std::ranges::for_each(live_, add);
  ensure(bytes == bytes_, "the store counts its blocks' bytes");
  return contents;
}

}  // namespace polychron::recording
