// Joins requests of equal shape into batches, for models whose runs cost less than their start.
//
// Invariants: a batch runs at once while a lane is free; else it waits for a lane, for `most` rows,
// or for the window to end, whichever comes first. Each request gets its own outcome.
// Never: waits while nothing else runs.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

#include "models/engine.hpp"

namespace polychron::server {

/// A request and whom to tell.
struct BatchMember {
  EngineRequest request;
  std::uint32_t rows = 0;  ///< dimension 0 of its tensors
  Promise<EngineOutcome> promise{};

  /// Without memory for the refusal, the promise is dropped: its future rejects.
  void refuse(Status status, std::string_view why) const noexcept;
};
using Batch = std::list<BatchMember>;

class Batcher : public std::enable_shared_from_this<Batcher> {
 public:
  /// Runs a batch, without waiting. Calls `done` once, and not before it returns, when the lane is
  /// free again; then settles the promises. If it throws, it has called nothing, and the batch is
  /// as it was.
  using RunBatch = std::function<void(Batch&& batch, std::function<void()> done)>;

  Batcher(const ModelConfig& config, boost::asio::any_io_executor timers, RunBatch run)
      : most_(config.max_batch),
        window_(config.batch_window),
        lanes_(static_cast<std::size_t>(config.lanes)),
        timers_(std::move(timers)),
        run_(std::move(run)) {}

  /// Throws Error (bad_data) if the requests of this model cannot be joined. They can, if dimension
  /// 0 of each input and output is free, no other dimension has its symbol, and `sizes` allows
  /// `max_batch` rows.
  static void check(const Signature& signature, const ModelConfig& config);

  /// Takes a request that can be joined with others. Any thread. May throw std::bad_alloc; the
  /// request is then not taken.
  void add(BatchMember&& member);
  /// Rows of a request that can be joined; 0: run it alone.
  std::uint32_t rows_of(const EngineRequest& request) const;

 private:
  /// Requests that wait, with equal keys.
  struct Group {
    std::string key;
    std::uint64_t number = 0;
    Batch batch;
    std::uint32_t rows = 0;
    std::unique_ptr<boost::asio::steady_timer> window;
  };

  using Groups = std::list<Group>;

  /// With the lock. Moves the group of one new member into its place, and groups that may start to
  /// `ready`.
  void join(Groups& fresh, Groups& ready) noexcept;
  void start(Batch batch);
  /// A lane is free: the oldest group, which takes it, or nothing.
  Batch next();
  void wait(Group& group) noexcept;  ///< with the lock
  void close(std::uint64_t number);  ///< its window is over

  const std::uint32_t most_;
  const std::chrono::microseconds window_;
  const std::size_t lanes_;
  const boost::asio::any_io_executor timers_;
  const RunBatch run_;

  std::mutex mutex_;
  Groups groups_;  ///< oldest first
  std::uint64_t made_ = 0;
  std::size_t running_ = 0;
};

}  // namespace polychron::server
