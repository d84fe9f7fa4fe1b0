// Threads that create, write, dispatch, compute, read, rent, destroy and lose contexts at random,
// on real kernels with faults injected. At the end every reply was settled exactly once, no read
// gave anything but what the calls before it made, and bytes, threads and actors are back at the
// start. Runs POLYCHRON_SOAK_SECONDS (default 5) with POLYCHRON_SEED (default 1); prints its
// counts.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "kernels/cpu/cpu_backend.hpp"
#include "polychron/polychron.hpp"
#include "runtime/runtime_state.hpp"
#include "stress/fault_backend.hpp"

using namespace polychron;
using stress::FaultPoint;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

std::size_t threads_of_process() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

/// True once there are no more threads than `count`. A thread that has been joined is still listed
/// until the kernel has seen to it: looks again, but not for ever.
bool threads_are_back_at(std::size_t count) {
  for (int looks = 0; looks < 100000; ++looks) {
    if (threads_of_process() <= count) return true;
    std::this_thread::yield();
  }
  return false;
}

/// What happened, counted by all threads.
struct Tally {
  std::atomic<std::uint64_t> asked{0}, resolved{0}, rejected{0}, twice{0}, wrong{0}, thrown{0};
  std::atomic<std::uint64_t> contexts{0}, lost{0}, tensors{0}, writes{0}, dispatches{0};
  std::atomic<std::uint64_t> computes{0}, leases{0}, builds{0};
};

/// Notes that a reply is expected, and that it came, and how.
template <class T>
void expect(Tally& tally, Future<T> future, std::function<bool(T&)> check = {}) {
  ++tally.asked;
  const auto settled = std::make_shared<std::atomic<bool>>(false);
  future.then([&tally, settled, check = std::move(check)](Result<T> result) {
    if (settled->exchange(true)) ++tally.twice;
    if (!result) {
      ++tally.rejected;
      return;
    }
    if (check && !check(*result)) ++tally.wrong;
    ++tally.resolved;
  });
}

/// A context that any worker may join, and any may destroy.
struct Commons {
  std::mutex mutex;
  Context context;
};

/// A context, its graph (out = a + b on float32 [4]), and what each tensor holds if it is readable.
struct Place {
  Context context;
  Graph graph;
  std::deque<std::pair<Tensor, float>> tensors;
};

class Worker {
 public:
  Worker(Runtime& runtime, stress::FaultPlan& faults, Commons& commons, Tally& tally,
         std::uint64_t seed)
      : runtime_(runtime), faults_(faults), commons_(commons), tally_(tally), random_(seed) {}

  void run(std::chrono::steady_clock::time_point until) {
    while (std::chrono::steady_clock::now() < until) {
      try {
        step();
      } catch (const Error&) {
        ++tally_.thrown;  // a fault, or a context that has just been lost
        if (place_.context && place_.context.lost().ready()) place_ = {};
      }
    }
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void step() {
    if (!place_.context) return open();
    if (place_.tensors.size() < 3) return create();
    auto& [tensor, value] = place_.tensors[below(place_.tensors.size())];
    switch (below(40)) {
      case 0:
        return below(20) == 0 ? close() : create();
      case 1:
        return destroy();
      case 2:
        return rent(tensor, value);
      case 3:
        return compute();
      case 4:
        return build();
      case 5:
        return expect<std::optional<Error>>(tally_, tensor.error());
      case 6:
        return watch();
      default:
        break;
    }
    if (below(3) == 0) return write(tensor, value);
    if (below(2) == 0) return dispatch();
    read(tensor, value);
  }

  void open() {
    if (below(2) == 0) {
      create_context();
    } else {
      const std::lock_guard lock(commons_.mutex);
      if (!commons_.context || commons_.context.lost().ready()) {
        create_context();
        commons_.context = place_.context;
      }
      place_.context = commons_.context;
    }
    place_.graph = adder().get();
  }
  void create_context() {
    ContextOptions options;
    options.lanes = 1 + static_cast<int>(below(3));
    options.max_in_flight = 64;
    options.admission = below(2) == 0 ? AdmissionPolicy::block : AdmissionPolicy::fail;
    place_.context = runtime_.create_context(options).get();
    ++tally_.contexts;
    expect<LostInfo>(tally_, place_.context.lost());
  }
  Future<Graph> adder() {
    ++tally_.builds;
    GraphBuilder builder(place_.context);
    const auto a = builder.input("a", four_), b = builder.input("b", four_);
    return builder.build({{"out", builder.add(a, b)}});
  }
  void create() {
    TensorDescriptor descriptor{four_, true, true, {}};
    place_.tensors.emplace_back(place_.context.create_tensor(descriptor).get(), 0.0F);
    ++tally_.tensors;
  }
  void destroy() {
    if (below(2) == 0) place_.tensors.front().first.destroy();
    place_.tensors.pop_front();
  }
  void close() {
    ++tally_.lost;
    if (below(2) == 0)
      place_.context.destroy();
    else  // the device is gone at the next kernel
      faults_.fail(FaultPoint::execute, 1, {.kind = ErrorKind::context_lost});
    dispatch();
    place_ = {};
  }
  void write(const Tensor& tensor, float& value) {
    const auto next = static_cast<float>(below(1000));
    place_.context.write_tensor(tensor, std::vector<float>(4, next));
    value = next;
    ++tally_.writes;
  }
  void dispatch() {
    auto& t = place_.tensors;
    const auto a = below(t.size()), b = (a + 1) % t.size(), out = (a + 2) % t.size();
    DispatchOptions options;
    if (below(20) == 0) {
      options.cancellation.emplace();
      options.cancellation->cancel();
    }
    place_.context.dispatch(place_.graph, {{"a", t[a].first}, {"b", t[b].first}},
                            {{"out", t[out].first}}, options);
    t[out].second = std::fmod(t[a].second + t[b].second, 1e6F);
    if (t[out].second != t[a].second + t[b].second) write(t[out].first, t[out].second);
    ++tally_.dispatches;
  }
  /// A scope around a dispatch. Another worker of the same context may pop it first.
  void watch() {
    place_.context.push_error_scope(ErrorFilter::internal);
    dispatch();
    expect<std::optional<Error>>(tally_, place_.context.pop_error_scope());
  }
  void read(const Tensor& tensor, float value) {
    if (below(3) == 0)  // what is lent comes back, whatever happens
      return expect<ReadResult>(tally_, place_.context.read_tensor(tensor, Buffer(16)),
                                [value](ReadResult& read) {
                                  return read.buffer.size() == 16 &&
                                         (!read.status || read.buffer.as<float>()[3] == value);
                                });
    expect<Buffer>(tally_, place_.context.read_tensor(tensor),
                   [value](Buffer& bytes) { return bytes.as<float>()[3] == value; });
  }
  void rent(const Tensor& tensor, float& value) {
    ++tally_.leases;
    const auto mode = below(2) == 0 ? LeaseMode::wait : LeaseMode::fail;
    auto lease = place_.context.export_tensor(tensor, mode).get();
    float seen[4];
    std::memcpy(seen, lease.bytes().data(), sizeof seen);
    if (seen[0] != value && !lease.revoked()) ++tally_.wrong;
    if (mode == LeaseMode::wait) read(tensor, value);
  }
  void compute() {
    ++tally_.computes;
    const auto x = static_cast<float>(below(1000));
    const auto input = [&] { return Buffer::copy_of(std::span<const float>(std::vector(4, x))); };
    NamedBuffers in, out;
    in.emplace_back("a", input());
    in.emplace_back("b", input());
    out.emplace_back("out", Buffer(16));
    expect<ComputeResult>(tally_,
                          place_.context.compute(place_.graph, std::move(in), std::move(out)),
                          [x](ComputeResult& done) {
                            const Buffer& sum = done.outputs.at(0).second;
                            return sum.size() == 16 && done.inputs.at(1).second.size() == 16 &&
                                   (!done.status || sum.as<float>()[0] == x + x);
                          });
  }
  void build() { expect<Graph>(tally_, adder()); }

  Runtime& runtime_;
  stress::FaultPlan& faults_;
  Commons& commons_;
  Tally& tally_;
  std::mt19937_64 random_;
  Place place_;
  const OperandDescriptor four_{DataType::float32, {4}};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(soak)

BOOST_AUTO_TEST_CASE(everything_at_random_for_a_while) {
  const auto seconds = from_environment("POLYCHRON_SOAK_SECONDS", 5);
  const auto seed = from_environment("POLYCHRON_SEED", 1);
  std::thread([] {}).join();  // the thread sanitizer starts one of its own with the first
  const auto threads_before = threads_of_process();
  Tally tally;
  const auto faults = std::make_shared<stress::FaultPlan>();
  faults->fail_randomly(FaultPoint::execute, seed + 1, 101, {});
  faults->fail_randomly(FaultPoint::adopt, seed + 2, 97, {});
  faults->fail_randomly(FaultPoint::allocate, seed + 3, 53, {});
  faults->fail_randomly(FaultPoint::read, seed + 4, 89, {.throws = true});
  faults->fail_randomly(FaultPoint::compile, seed + 5, 29, {});
  auto state = detail::RuntimeState::create(
      {}, [faults](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
        return std::shared_ptr<kernels::Backend>(
            std::make_shared<stress::FaultBackend>(kernels::make_cpu_backend(), faults));
      });
  {
    Runtime runtime(state);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    Commons commons;
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 3; ++i)
      threads.emplace_back(
          [&, i] { Worker(runtime, *faults, commons, tally, seed * 100 + i).run(until); });
    threads.clear();
  }
  BOOST_TEST_MESSAGE("seed " << seed << ": " << tally.asked << " replies asked, " << tally.resolved
                             << " resolved, " << tally.rejected << " rejected; " << tally.contexts
                             << " contexts, " << tally.lost << " destroyed or lost; "
                             << tally.tensors << " tensors, " << tally.writes << " writes, "
                             << tally.dispatches << " dispatches, " << tally.computes
                             << " computes, " << tally.leases << " leases, " << tally.builds
                             << " builds; " << faults->injected() << " faults, " << tally.thrown
                             << " calls threw");
  BOOST_TEST(tally.asked == tally.resolved + tally.rejected);
  BOOST_TEST(tally.twice == 0U);
  BOOST_TEST(tally.wrong == 0U);
  BOOST_TEST(tally.contexts > 0U);
  BOOST_TEST(state->census().present().empty());
  BOOST_TEST(state->contexts_holding_memory() == 0U);
  // The scheduler's threads end with the last handle to the runtime.
  state.reset();
  BOOST_TEST(threads_are_back_at(threads_before));
}

BOOST_AUTO_TEST_SUITE_END()
