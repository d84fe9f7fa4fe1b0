// One thread of the soak: makes calls at random, and knows the right result of each.
//
// The model. A worker's tensors are its own, and its calls keep their order. So the calls that
// wrote a tensor are known, in spite of others in the same context. A tensor's content is noted
// when the call that makes it has returned: a call that throws has changed nothing. The note is the
// value that a read may give, if it gives bytes at all. Or it says that no read may give bytes,
// because the last call that would have written the tensor certainly did not run. A fault may
// always come between; rejections are judged apart.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "observe/stress/fault_backend.hpp"
#include "tests/soak/site.hpp"

namespace polychron::soak {

/// The objects that all workers share.
struct World {
  World(Runtime& r, stress::FaultPlan& f, Tally& t) : runtime(r), faults(f), tally(t) {}

  Runtime& runtime;
  stress::FaultPlan& faults;
  Tally& tally;

  /// The context that any worker may join, and any may destroy.
  std::mutex mutex;
  std::shared_ptr<Site> commons;
  /// The last contexts that are gone: what do they say after the end?
  std::deque<std::shared_ptr<Site>> graveyard;
};

/// A tensor, and what it holds if it is readable; nothing: it certainly is not.
struct Held {
  Tensor tensor;
  std::optional<float> value;
  LedgerEntry entry;
};

/// A graph on float32 [4]: out = a + b, or out = a + `shift`.
struct Sum {
  Graph graph;
  std::optional<float> shift;
  Tensor constant;
  LedgerEntry entry, constant_entry;
};

class Worker {
 public:
  Worker(World& world, std::uint64_t seed) : world_(world), tally_(world.tally), random_(seed) {}

  void run(std::chrono::steady_clock::time_point until);

  /// Its current action, for the report if it does not end.
  const char* doing() const noexcept { return doing_; }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  bool once_in(std::size_t n) { return below(n) == 0; }
  Held& any() { return tensors_[below(tensors_.size())]; }
  Context& context() { return site_->context; }
  void step();
  void leave();

  // -- worker.cpp: what lives
  void open();
  void create_context();
  Sum make_sum();
  Future<Graph> build_sum(const Tensor& constant);
  void create();
  void destroy();
  void replace_graph();
  void close();

  // -- operations.cpp: writes, dispatches, reads
  void write(Held& held);
  void dispatch();
  void read(const Held& held);
  void read_into_span(const Held& held);
  void compute();

  // -- trouble.cpp: leases, errors, callbacks
  void rent(Held& held);
  void rent_alone(Held& held);
  void revoke();
  void watch();
  void watch_alone();
  void query(const Held& held);
  void chain();
  void rest();

  World& world_;
  Tally& tally_;
  std::mt19937_64 random_;
  std::atomic<const char*> doing_{"nothing yet"};
  std::uint64_t calls_ = 0;
  std::string label_;  ///< of the calls of this step
  std::shared_ptr<Site> site_;
  std::deque<Held> tensors_;
  Sum sum_;
  const OperandDescriptor four_{DataType::float32, {4}};
};

/// The error in `bytes`: they should be four times `value`. Without a value there should be none.
std::string compare(std::span<const std::byte> bytes, std::optional<float> value);

}  // namespace polychron::soak
