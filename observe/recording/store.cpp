#include "observe/recording/store.hpp"

#include <algorithm>
#include <new>
#include <utility>

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
  current.block = std::make_shared<Block>(current.thread, size);
  current.epoch = now;
  current.snapshots = snapshots_.load(std::memory_order_relaxed);
  live_.push_back(current.block);
  bytes_ += size;
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
  std::erase(live_, block);
  // A thread that ends after few records must not keep a whole block.
  if (const auto used = block->published(); used.size() < block->size / 2) {
    const auto small = std::make_shared<Block>(block->thread, used.size());
    std::copy(used.begin(), used.end(), small->memory.get());
    small->used.store(used.size(), std::memory_order_relaxed);
    small->records.store(block->records.load(std::memory_order_relaxed), std::memory_order_relaxed);
    bytes_ -= block->size - small->size;
    block = small;
  }
  complete_.push_back(std::move(block));
  trim();
}

void Store::trim() {
  while (bytes_ > most_bytes() && !complete_.empty()) {
    count_dropped(complete_.front()->records.load(std::memory_order_relaxed));
    bytes_ -= complete_.front()->size;
    complete_.pop_front();
  }
}

Store::Contents Store::contents() {
  const std::lock_guard lock(mutex_);
  snapshots_.fetch_add(1, std::memory_order_seq_cst);  // before the first look at a block
  Contents contents{{}, dropped_.load(std::memory_order_relaxed)};
  const auto add = [&](const BlockRef& block) {
    contents.blocks.push_back({block, block->published()});
  };
  std::ranges::for_each(complete_, add);
  std::ranges::for_each(live_, add);
  return contents;
}

}  // namespace polychron::recording
