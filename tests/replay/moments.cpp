// Recordings that begin and end at any moment come again. POLYCHRON_MOMENTS says how many are tried
// (40), POLYCHRON_SEED from which seed on (1).
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <thread>

#include "observe/recording/codec.hpp"
#include "observe/recording/file.hpp"
#include "observe/recording/recorder.hpp"
#include "observe/stress/symbolic_backend.hpp"
#include "observe/stress/world.hpp"
#include "runtime/builder_bridge.hpp"
#include "tests/recorded_program.hpp"
#include "tests/replay/recordings.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

std::size_t from_environment(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoul(text);
}

/// The recording of one thread, as it was after each of its records.
class Prefixes {
 public:
  explicit Prefixes(const std::vector<std::byte>& recording)
      : recording_(recording), file_(recording::read_file(recording_).value()) {
    for (const auto& block : file_.blocks) {
      recording::Decoder decoder(std::as_bytes(std::span(block.bytes)));
      while (!decoder.at_end()) {
        const auto record = decoder.record().value();
        std::visit([this](const auto& r) { add(r); }, record);
      }
    }
  }
  std::size_t size() const { return ends_.size(); }
  std::vector<std::byte> operator[](std::size_t last) const {
    recording::Store::Contents contents;
    contents.blocks.push_back(
        {std::make_shared<recording::Block>(1, 0), std::span(bytes_).first(ends_.at(last))});
    return recording::file_of(contents, file_.head.taken);
  }

 private:
  template <class R>
  void add(const R& record) {
    const auto begin = bytes_.size();
    bytes_.resize(begin + 1 + recording::most_bytes(record));
    recording::Encoder encoder(bytes_.data() + begin);
    encoder.record(record);
    bytes_.resize(static_cast<std::size_t>(encoder.end() - bytes_.data()));
    ends_.push_back(bytes_.size());
  }

  const std::vector<std::byte> recording_;
  const recording::File file_;
  std::vector<std::byte> bytes_;   ///< of all records
  std::vector<std::size_t> ends_;  ///< of each of them
};

/// Threads do not come again by a seed, so a recording that differs is kept.
void keep(std::span<const std::byte> recording) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("moments-" + std::to_string(std::random_device()()) + ".trace");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(recording.data()),
             static_cast<std::streamsize>(recording.size()));
  std::cout << "the recording is in " << path << '\n';
}

/// Makes it again, and tells what differs. Returns the number of contexts that it has from their
/// beginning, and with calls.
std::size_t contexts_again(std::span<const std::byte> recording) {
  try {
    const auto replayed = replay::replay(recording);
    for (const auto& difference : replayed.differences) BOOST_ERROR(difference);
    if (!replayed.differences.empty()) keep(recording);
    return replayed.contexts;
  } catch (const Error& error) {
    const auto text = error.message();
    BOOST_TEST((text.find("it has no calls") != text.npos ||
                text.find("the beginning of any context") != text.npos),
               text);
    return 0;
  }
}

const auto moments_tried = from_environment("POLYCHRON_MOMENTS", 40);
const auto first_seed = from_environment("POLYCHRON_SEED", 1);

}  // namespace

BOOST_AUTO_TEST_SUITE(moments)

BOOST_AUTO_TEST_CASE(a_recording_may_end_after_any_record) {
  std::size_t again = 0, tried = 0;
  for (auto seed = first_seed; seed < first_seed + moments_tried; ++seed) {
    const auto recorded = recorded_program(seed);
    const Prefixes prefixes(recorded.recording);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20; ++i, ++tried) {
      const auto last = random() % prefixes.size();
      BOOST_TEST_CONTEXT("seed " << seed << ", " << last + 1 << " of " << prefixes.size()
                                 << " records\n"
                                 << stress::to_string(recorded.program)) {
        again += contexts_again(prefixes[last]) > 0;
      }
    }
  }
  BOOST_TEST(again * 10 > tried * 9, again << " of " << tried);
}

namespace {

/// Two contexts, the second made later than the first. The recording begins with a step of theirs.
class BegunAt {
 public:
  BegunAt(std::uint64_t seed, std::size_t moment) : random_(seed), left_(moment) {}

  std::vector<std::byte> recording() {
    if (begun()) recorder_->begin({});
    stress::RandomStrategy strategy(random_());
    stress::World world(strategy);
    world.observe([this](const ContextOptions& options) {
      return recorder_->observer_for(options.label, static_cast<std::size_t>(options.lanes));
    });
    {
      Used first(*this, world), second;
      for (int i = 0; i < 40; ++i) {
        if (i == 15) second = Used(*this, world);
        auto& used = second.context && random_() % 2 == 0 ? second : first;
        call(used);
        for (auto steps = random_() % 8; steps > 0; --steps) step(world);
      }
    }
    while (step(world)) {
    }
    return recording::file_of(recorder_->contents(), recorder_->now());
  }
  bool begun() const { return left_ == 0; }

 private:
  struct Used {
    Used() = default;
    Used(BegunAt& by, stress::World& world) {
      ContextOptions options;
      options.lanes = 2;
      context = by.settle(world, world.runtime().create_context(options));
      graph =
          by.settle(world, detail::submit_build(context, stress::symbolic_graph("g", 1), {"g"}));
      for (int i = 0; i < 3; ++i)
        tensors.push_back(by.settle(world, context.create_tensor(stress::value_descriptor)));
    }
    Context context;
    Graph graph;
    std::vector<Tensor> tensors;
  };
  bool step(stress::World& world) {
    if (left_ > 0 && --left_ == 0) recorder_->begin({});
    return world.step();
  }
  template <class T>
  T settle(stress::World& world, Future<T> future) {
    while (!future.ready() && step(world)) {
    }
    return future.get();
  }
  void call(Used& used) {
    const auto& one = used.tensors[random_() % 3];
    const auto& other = used.tensors[random_() % 3];
    if (random_() % 3 == 0)
      used.context.write_tensor(one, std::vector{random_()});
    else if (random_() % 2 == 0 || one.id() == other.id())
      static_cast<void>(used.context.read_tensor(one));
    else
      used.context.dispatch(used.graph, {{"in0", one}}, {{"out", other}});
  }

  std::mt19937_64 random_;
  std::size_t left_;  ///< steps until the recording begins
  const std::shared_ptr<recording::Recorder> recorder_ = std::make_shared<recording::Recorder>(
      [now = recording::Time{0}]() mutable { return now += 1000; });
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_recording_has_the_contexts_that_are_made_after_it_began) {
  for (auto seed = first_seed; seed < first_seed + moments_tried / 20; ++seed) {
    std::vector<std::size_t> contexts;
    for (std::size_t moment = 0;; ++moment) {
      BegunAt run(seed, moment);
      const auto recording = run.recording();
      if (!run.begun()) break;  // after all steps
      BOOST_TEST_CONTEXT("seed " << seed << ", begun at step " << moment) {
        contexts.push_back(contexts_again(recording));
      }
    }
    BOOST_TEST(contexts.front() == 2U);
    BOOST_TEST(std::ranges::is_sorted(contexts, std::greater<>()));
    for (const std::size_t number : {1U, 0U}) BOOST_TEST(std::ranges::count(contexts, number) > 10);
  }
}

namespace {

/// Threads that make contexts, use them and leave them or lose them, until the end.
class Workers {
 public:
  Workers(Runtime& runtime, std::uint64_t seed, std::size_t count) : runtime_(runtime) {
    for (std::size_t i = 0; i < count; ++i)
      threads_.emplace_back([this, seed, i] {
        std::mt19937_64 random(seed * 8 + i);
        while (!done_) use_one_context(random);
      });
  }
  ~Workers() { done_ = true; }
  void let_call(std::size_t more) const {
    for (const auto until = calls_ + more; calls_ < until;) std::this_thread::yield();
  }

 private:
  void use_one_context(std::mt19937_64& random) {
    ContextOptions options;
    options.lanes = 1 + static_cast<int>(random() % 3);
    if (random() % 4 == 0) options.memory_limit = 16;
    auto context = runtime_.create_context(options).get();
    std::vector<Tensor> tensors;
    Graph graph;
    for (auto left = 4 + random() % 40; left > 0 && !done_; --left, ++calls_) {
      try {
        if (!graph) graph = build(context);
        while (tensors.size() < 3) tensors.push_back(tensor(context));
        call(context, graph, tensors, random);
      } catch (const Error&) {  // a fault, or the context is lost
      }
    }
    if (random() % 2 == 0) context.destroy();
  }
  static Tensor tensor(Context& context) {
    return context.create_tensor({one_number, true, true, {}}).get();
  }
  static Graph build(Context& context) {
    GraphBuilder builder(context);
    const auto in = builder.input("in", one_number);
    return builder.build({{"out", builder.add(in, in)}}).get();
  }
  static void call(Context& context, Graph& graph, std::vector<Tensor>& tensors,
                   std::mt19937_64& random) {
    const auto some = random() % tensors.size(), other = (some + 1) % tensors.size();
    auto& tensor = tensors[some];
    const bool rather = random() % 2 == 0;
    switch (random() % 12) {
      case 0:
        graph = build(context);
        break;
      case 1:
        tensor.destroy();
        tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(some));
        break;
      case 2: {
        auto lease = context.export_tensor(tensor, rather ? LeaseMode::fail : LeaseMode::wait);
        const auto read = context.read_tensor(tensor);
        if (random() % 2 == 0) tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(some));
        static_cast<void>(lease.take());
        break;
      }
      case 3:
        static_cast<void>(tensor.error().take());
        break;
      case 4:
        context.push_error_scope(ErrorFilter::internal);
        static_cast<void>(context.pop_error_scope());
        break;
      case 5: {
        NamedBuffers in, out;
        in.emplace_back("in", Buffer(sizeof(float)));
        out.emplace_back("out", Buffer(sizeof(float)));
        const auto computed = context.compute(graph, std::move(in), std::move(out));
        if (rather) graph = {};
        break;
      }
      case 6:
        static_cast<void>(context.read_tensor(tensor).take());
        break;
      case 7:
      case 8:
        context.write_tensor(tensor, std::vector{static_cast<float>(random() % 100)});
        break;
      default: {
        DispatchOptions with;
        if (random() % 8 == 0) with.deadline = std::chrono::steady_clock::now();
        if (random() % 8 == 0) with.cancellation.emplace().cancel();
        context.dispatch(graph, {{"in", tensor}}, {{"out", tensors[other]}}, with);
      }
    }
  }

  Runtime& runtime_;
  std::atomic<std::size_t> calls_{0};
  std::atomic<bool> done_{false};
  std::vector<std::jthread> threads_;
};

/// Begun while threads are at work, and ended or looked at while they are.
std::vector<std::byte> recording_of_threads(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto faults = std::make_shared<stress::FaultPlan>();
  using stress::FaultPoint;
  faults->fail_randomly(FaultPoint::execute, seed + 1, 23, {});
  faults->fail_randomly(FaultPoint::adopt, seed + 2, 61, {.kind = ErrorKind::context_lost});
  faults->fail_randomly(FaultPoint::allocate, seed + 3, 41, {});
  faults->fail_randomly(FaultPoint::compile, seed + 4, 19, {});
  Runtime runtime(faulty_runtime(faults));
  const Workers workers(runtime, seed, 2 + random() % 2);
  workers.let_call(random() % 100);
  runtime.start_trace({.calls = random() % 2 == 0 ? TraceCalls::sizes : TraceCalls::payloads});
  workers.let_call(random() % 400);
  if (random() % 2 == 0) runtime.stop_trace();
  return runtime.trace();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_recording_of_threads_may_begin_and_end_at_any_moment) {
  std::size_t again = 0;
  for (auto seed = first_seed; seed < first_seed + moments_tried; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) { again += contexts_again(recording_of_threads(seed)) > 0; }
  }
  BOOST_TEST(again * 4 > moments_tried * 3, again << " of " << moments_tried);
}

BOOST_AUTO_TEST_SUITE_END()
