// The threads that run the actors of all contexts: CAF's scheduler, as this runtime needs it.
#pragma once

#include <caf/all.hpp>
#include <caf/detail/simple_actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "actors/engine/job_queue.hpp"
#include "actors/engine/platform.hpp"

namespace polychron::engine {

/// Its threads exist before the actor system does: CAF would not survive it if a thread could not
/// be had.
class ThreadPool {
 public:
  using Queue = JobQueue<Machine>;

  /// Throws std::system_error, after it has ended the threads that it had.
  explicit ThreadPool(std::size_t threads);
  ~ThreadPool();

  /// Before the first job: whose actors these are, and how many messages an actor handles before
  /// it is another's turn.
  void open(caf::actor_system& system, std::size_t messages_a_turn) noexcept;
  std::size_t messages_a_turn() const noexcept { return messages_a_turn_; }
  Queue& queue() noexcept { return queue_; }
  /// Ends the threads, once the queue is empty.
  void close();

 private:
  class Unit;
  void serve();

  Queue queue_;
  caf::actor_system* system_ = nullptr;
  std::size_t messages_a_turn_ = 1;
  std::vector<std::thread> threads_;
};

/// The configuration of an actor system that uses a pool.
struct PoolConfig : caf::actor_system_config {
  explicit PoolConfig(std::shared_ptr<ThreadPool> threads);
  const std::shared_ptr<ThreadPool> pool;
};

/// The pool as CAF sees it, without the threads of CAF's clock and printer.
class PoolScheduler final : public caf::scheduler::abstract_coordinator {
 public:
  PoolScheduler(caf::actor_system& system, std::shared_ptr<ThreadPool> pool)
      : abstract_coordinator(system), pool_(std::move(pool)) {}
  /// For caf::actor_system_config::load(), of a PoolConfig.
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>);

  void enqueue(caf::resumable* job) override { pool_->queue().push(job); }
  caf::actor_clock& clock() noexcept override { return clock_; }

 protected:
  void start() override { pool_->open(system(), max_throughput()); }
  void stop() override { pool_->close(); }

 private:
  const std::shared_ptr<ThreadPool> pool_;
  caf::detail::simple_actor_clock clock_;  ///< nobody asks for timeouts
};

}  // namespace polychron::engine
