// Threads that share the work of a dispatch change its duration, and nothing else.
#include <algorithm>
#include <cstring>

#include "kernels/team.hpp"
#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

constexpr std::uint32_t size = 192;

/// Products and sums of every element with every other: what is added in another order differs.
struct Mixing {
  explicit Mixing(const ContextOptions& options)
      : embedder(options), graph(build(embedder.context)) {}

  static Graph build(Context& context) {
    GraphBuilder builder(context);
    const OperandDescriptor square{DataType::float32, {size, size}};
    const OperandDescriptor vector{DataType::float32, {size}};
    const auto x = builder.input("x", square);
    auto y = builder.matmul(x, builder.constant(square, numbers(size * size, 7)));
    y = builder.add(y, builder.constant(vector, numbers(size, 3)));
    y = builder.softmax(builder.gelu(y), 1);
    y = builder.matmul(builder.transpose(y), y);
    return builder.build({{"y", y}}).get();
  }
  static std::vector<float> numbers(std::uint32_t count, std::uint32_t step) {
    std::vector<float> values(count);
    std::uint32_t state = step;
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U) - 0.5F;
    }
    return values;
  }

  /// Several at once, each with its own tensors.
  std::vector<std::vector<float>> results() {
    std::vector<Tensor> tensors;
    std::vector<Future<Buffer>> reads;
    for (std::uint32_t i = 0; i < 6; ++i) {
      const auto x = embedder.tensor(DataType::float32, {size, size});
      const auto y = embedder.tensor(DataType::float32, {size, size});
      embedder.context.write_tensor(x, numbers(size * size, 11 + i));
      embedder.context.dispatch(graph, {{"x", x}}, {{"y", y}});
      reads.push_back(embedder.context.read_tensor(y));
      tensors.insert(tensors.end(), {x, y});
    }
    std::vector<std::vector<float>> all;
    for (auto& read : reads) all.push_back(Embedder::floats(read.get()));
    return all;
  }

  Embedder embedder;
  Graph graph;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(results_are_the_same_bits_for_any_number_of_threads_and_lanes) {
  const auto expected = Mixing({.threads = 1, .lanes = 1}).results();
  for (const int threads : {0, 1, 2, 3, 4})
    for (const int lanes : {1, 2, 4}) {
      Mixing mixing({.cores = 3, .threads = threads, .lanes = lanes});
      for (int run = 0; run < 5; ++run)
        BOOST_TEST((mixing.results() == expected),
                   threads << " threads, " << lanes << " lanes, run " << run);
    }
}

BOOST_AUTO_TEST_CASE(a_context_may_have_a_lane_for_each_core) {
  const auto lanes = [](const ContextOptions& options) {
    Runtime runtime;
    auto context = runtime.create_context(options).get();
    GraphBuilder builder(context);
    const auto x = builder.input("x", {DataType::float32, {4}});
    return builder.build({{"y", builder.add(x, x)}}).get().memory().lanes;
  };
  BOOST_TEST(lanes({}) == 1U);
  BOOST_TEST(lanes({.lanes = 0}) == static_cast<std::size_t>(std::min(usable_cores(), 16)));
  BOOST_TEST(lanes({.cores = 1, .lanes = 0}) == 1U);
  BOOST_TEST(lanes({.cores = 3, .lanes = 0}) == 3U);
  BOOST_TEST(lanes({.cores = 20, .lanes = 0}) == 16U);
  BOOST_TEST(lanes({.cores = 5, .threads = 2, .lanes = 0}) == 2U);
  BOOST_TEST(lanes({.cores = 2, .threads = 3, .lanes = 0}) == 1U);
  BOOST_TEST(lanes({.cores = 2, .lanes = 5}) == 5U);
}

BOOST_AUTO_TEST_CASE(a_lane_has_a_team_which_shares_its_dispatches) {
  // Of one thread, of three, and of three cores that the lanes share.
  for (const int threads : {1, 3, 0}) {
    Rig rig({.cores = 3, .threads = threads, .lanes = threads == 0 ? 2 : 1});
    const auto graph = Mixing::build(rig.context);
    const auto tensor = [&] {
      TensorDescriptor descriptor;
      descriptor.data_type = DataType::float32;
      descriptor.shape = {size, size};
      descriptor.readable = true;
      return rig.context.create_tensor(descriptor).get();
    };
    const auto x = tensor(), y = tensor();
    rig.context.dispatch(graph, {{"x", x}}, {{"y", y}});
    rig.context.read_tensor(y).get();
    const auto team = rig.faults->last_team();
    BOOST_REQUIRE((team != nullptr) == (threads != 1));
    if (threads == 1) continue;
    BOOST_TEST(team->size() == 3U);
    BOOST_TEST(team->steps() > 1U);
  }
}

// The context goes while a team is at work: reads are rejected, and everything ends.
BOOST_AUTO_TEST_CASE(a_destroy_in_the_middle_of_a_step_ends_everything) {
  if (needs_the_processor("half a minute of products on the simulated GPU")) return;
  for (int round = 0; round < 30; ++round) {
    Mixing mixing({.cores = 3, .threads = round % 2 == 0 ? 3 : 0, .lanes = 2});
    std::vector<Future<Buffer>> reads;
    const auto x = mixing.embedder.tensor(DataType::float32, {size, size});
    const auto y = mixing.embedder.tensor(DataType::float32, {size, size});
    for (int i = 0; i < 20; ++i)
      mixing.embedder.context.dispatch(mixing.graph, {{"x", x}}, {{"y", y}});
    reads.push_back(mixing.embedder.context.read_tensor(y));
    mixing.embedder.context.destroy();
    for (auto& read : reads) rejects(ErrorKind::invalid_state, std::move(read));
    BOOST_TEST(mixing.embedder.runtime.shutdown(std::chrono::seconds(20)).empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()
