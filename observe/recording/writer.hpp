// A thread's hand in a recorder's store: what it writes into, and what it is in the middle of.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/recording/call_record.hpp"
#include "observe/recording/codec.hpp"
#include "observe/recording/message_description.hpp"
#include "observe/recording/recorder.hpp"

namespace polychron::recording {

/// A direct-mapped cache of the names that were written into this block. After a collision a name
/// is written again.
class Said {
 public:
  /// True the first time, or when it was forgotten.
  bool is_new(std::uint64_t kind, ContextNumber context, std::uint64_t id) noexcept {
    const auto key = (id * 4 + kind) * 0x9E3779B97F4A7C15U + context * 0xC2B2AE3D27D4EB4FU + 1;
    auto& place = places_[key >> 56];
    return std::exchange(place, key) != key;
  }
  void forget() noexcept { places_.fill(0); }

 private:
  std::array<std::uint64_t, 256> places_{};
};
inline constexpr std::uint64_t a_tensor = 0, a_graph = 1, a_context = 2, a_plan = 3;

/// A handler that runs, and the operation that is carried out in it, if any. In a driven world one
/// may run in the middle of another's.
struct Frame {
  std::uint64_t epoch = 0;  ///< of the recording that it belongs to
  Time begin = 0;           ///< of the handling
  HandlingEnded handling;
  Carried carried;
  Rejected rejected;
  /// Which record's logical time is not known yet: what the actor looks at until its next event may
  /// move it.
  enum class Open : std::uint8_t { none, handling, operation, end, rejection } open = Open::none;
};

/// A thread's hand in one recorder's store. Hooks do not throw: what there is no memory for is
/// dropped, and counted.
struct Recorder::Writer {
  Writer(Recorder& of, std::weak_ptr<Recorder> weak)
      : recorder(&of), id(of.id_), alive(std::move(weak)) {}

  template <class R>
  void write(const R& record) noexcept {
    try {
      if (const auto bytes = most_bytes(record); !fits(bytes)) renew(bytes);
      put(record);
    } catch (...) {
      recorder->store_.count_dropped(1);
    }
  }
  bool fits(std::size_t bytes) const noexcept {
    return current.block && current.epoch == recorder->store_.epoch() &&
           current.block->size - current.block->used.load(std::memory_order_relaxed) >= bytes;
  }
  void renew(std::size_t bytes);
  /// Each hook calls it before it writes, so that a record and its names are in one block. After a
  /// snapshot a thread goes on in another block: see Store::contents().
  void make_room(std::size_t bytes) noexcept {
    try {
      if (!fits(bytes) || current.snapshots != recorder->store_.snapshots()) renew(bytes);
    } catch (...) {  // write() tries again
    }
  }
  template <class R>
  void put(const R& record) noexcept {
    auto& block = *current.block;
    Encoder encoder(block.memory.get() + block.used.load(std::memory_order_relaxed));
    encoder.record(record);
    block.records.store(block.records.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    block.used.store(static_cast<std::size_t>(encoder.end() - block.memory.get()),
                     std::memory_order_release);
  }
  /// Memory for the bytes of tensors: the next such record may be a long time off.
  void put_large_away() noexcept {
    if (!Store::large(current)) return;
    recorder->store_.leave(current);
    call_bytes = {};
  }
  /// The handler that this actor is in; nullptr if that is not known here.
  Frame* frame_of(msg::ActorId actor) noexcept {
    const auto frame = std::find_if(frames.rbegin(), frames.rend(), [&](const Frame& f) {
      return f.handling.by == actor && f.epoch == recorder->store_.epoch();
    });
    return frame == frames.rend() ? nullptr : &*frame;
  }

  Recorder* recorder;
  std::uint64_t id;
  std::weak_ptr<Recorder> alive;
  Store::Current current;
  Said said;
  Description description;  ///< its memory is used again
  CallBytes call_bytes;     ///< its memory is used again
  std::vector<Frame> frames;
};

}  // namespace polychron::recording
