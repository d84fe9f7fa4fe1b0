#include "actors/engine/thread_pool.hpp"

#include <optional>
#include <utility>

namespace polychron::engine {

/// The execution unit of a job that a worker runs.
class ThreadPool::Unit final : public caf::execution_unit {
 public:
  Unit(Queue& queue, caf::actor_system& system) : caf::execution_unit(&system), queue_(queue) {
    system.thread_started();
  }
  ~Unit() override { system().thread_terminates(); }
  void exec_later(caf::resumable* job) override { queue_.push(job); }

 private:
  Queue& queue_;
};

ThreadPool::ThreadPool(std::size_t threads) {
  threads_.reserve(threads);
  try {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  } catch (...) {
    close();
    throw;
  }
}

ThreadPool::~ThreadPool() { close(); }

void ThreadPool::open(caf::actor_system& system, std::size_t messages_a_turn) noexcept {
  system_ = &system;
  messages_a_turn_ = messages_a_turn;
}

void ThreadPool::serve() {
  std::optional<Unit> unit;
  queue_.serve([&](caf::resumable* job) {
    if (!unit) unit.emplace(queue_, *system_);  // the first job came after open()
    const bool more = job->resume(&*unit, messages_a_turn_) == caf::resumable::resume_later;
    if (!more) caf::intrusive_ptr_release(job);
    return more;
  });
}

void ThreadPool::close() {
  queue_.close();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

PoolConfig::PoolConfig(std::shared_ptr<ThreadPool> threads) : pool(std::move(threads)) {
  load<PoolScheduler>();
}

caf::actor_system::module* PoolScheduler::make(caf::actor_system& system,
                                               caf::detail::type_list<>) {
  return new PoolScheduler(system, dynamic_cast<const PoolConfig&>(system.config()).pool);
}

}  // namespace polychron::engine
