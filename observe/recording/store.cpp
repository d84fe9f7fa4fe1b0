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
  if (current.piece && current.epoch == now) complete(std::exchange(current.piece, nullptr));
  if (current.thread == 0) current.thread = ++threads_;
  const auto size = std::max(bytes, std::clamp(most_bytes() / 16, least_piece, usual_piece));
  if (size > std::max(most_bytes(), usual_piece)) throw std::bad_alloc();
  current.piece = std::make_shared<Piece>(current.thread, size);
  current.epoch = now;
  current.snapshots = snapshots_.load(std::memory_order_relaxed);
  live_.push_back(current.piece);
  bytes_ += size;
  trim();
}

void Store::leave(Current& current) noexcept {
  const std::lock_guard lock(mutex_);
  auto piece = std::exchange(current.piece, nullptr);
  if (!piece || current.epoch != epoch_.load(std::memory_order_relaxed)) return;
  const auto records = piece->records.load(std::memory_order_relaxed);
  try {
    complete(std::move(piece));
  } catch (...) {  // no memory: its records are lost
    count_dropped(records);
  }
}

void Store::complete(PieceRef piece) {
  std::erase(live_, piece);
  // A thread that ends after few records must not keep a whole piece.
  if (const auto used = piece->published(); used.size() < piece->size / 2) {
    const auto small = std::make_shared<Piece>(piece->thread, used.size());
    std::copy(used.begin(), used.end(), small->memory.get());
    small->used.store(used.size(), std::memory_order_relaxed);
    small->records.store(piece->records.load(std::memory_order_relaxed), std::memory_order_relaxed);
    bytes_ -= piece->size - small->size;
    piece = small;
  }
  complete_.push_back(std::move(piece));
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
  snapshots_.fetch_add(1, std::memory_order_seq_cst);  // before the first look at a piece
  Contents contents{{}, dropped_.load(std::memory_order_relaxed)};
  const auto add = [&](const PieceRef& piece) {
    contents.pieces.push_back({piece, piece->published()});
  };
  std::ranges::for_each(complete_, add);
  std::ranges::for_each(live_, add);
  return contents;
}

}  // namespace polychron::recording
