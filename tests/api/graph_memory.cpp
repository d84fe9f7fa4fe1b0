// Graph::memory() equals the bytes that a context holds, and that its limit admits.
#include "tests/allocated.hpp"
#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

constexpr std::uint32_t n = 256;
const OperandDescriptor square{DataType::float32, {n, n}};

/// y = relu(relu(x) w) w, with weights and something between inputs and outputs.
Graph network(const Context& context, const std::vector<float>& weights) {
  GraphBuilder builder(context);
  const auto w = builder.constant(square, weights);
  const auto hidden = builder.matmul(builder.relu(builder.input("x", square)), w);
  return builder.build({{"y", builder.matmul(builder.relu(hidden), w)}}).get();
}

std::vector<float> weights() {
  std::vector<float> w(n * n);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 251) / 251;
  return w;
}

/// A tensor that is dropped goes a moment later.
bool rests_at(const Context& context, std::uint64_t bytes) {
  return comes([&] { return context.stats().bytes == bytes; });
}

/// Two tensors of a size, and dispatches that both lanes take part in.
struct Loaded {
  explicit Loaded(const ContextOptions& options) : e(options) {}
  void run_on_every_lane(const Graph& graph) {
    // Those that depend on nothing go to the lanes in turn, or where there is room.
    const auto x = e.tensor(DataType::float32, {n, n});
    std::vector<Tensor> outputs;
    for (int i = 0; i < 64; ++i) {
      outputs.push_back(e.tensor(DataType::float32, {n, n}));
      e.context.dispatch(graph, {{"x", x}}, {{"y", outputs.back()}});
    }
    for (const auto& y : outputs) static_cast<void>(e.context.read_tensor(y).get());
  }
  Embedder e;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_memory)

BOOST_AUTO_TEST_CASE(a_graph_holds_what_it_said) {
  for (const int lanes : {1, 2}) {
    Loaded rig({.lanes = lanes});
    auto& context = rig.e.context;
    const auto before = context.stats().bytes;
    auto graph = network(context, weights());
    const auto memory = graph.memory();
    BOOST_TEST(memory.lanes == static_cast<std::size_t>(lanes));
    BOOST_TEST(memory.constants >= n * n * sizeof(float));
    BOOST_TEST(memory.arena >= n * n * sizeof(float));
    BOOST_TEST(memory.total() == memory.constants + memory.lanes * memory.arena);
    BOOST_TEST(context.stats().bytes == before + memory.constants);
    rig.run_on_every_lane(graph);
    BOOST_TEST(rests_at(context, before + memory.total()));
    graph.destroy();
    BOOST_TEST(rests_at(context, before));
  }
}

BOOST_AUTO_TEST_CASE(a_limit_of_that_is_enough_and_a_byte_less_is_not) {
  const auto memory = [&] {
    Embedder e;
    return network(e.context, weights()).memory();
  }();
  constexpr std::uint64_t tensors = std::uint64_t{2} * n * n * sizeof(float);
  for (const std::uint64_t missing : {0U, 1U}) {
    Embedder e({.memory_limit = tensors + memory.total() - missing});
    const auto x = e.tensor(DataType::float32, {n, n}), y = e.tensor(DataType::float32, {n, n});
    const auto graph = network(e.context, weights());
    e.context.dispatch(graph, {{"x", x}}, {{"y", y}});
    if (missing == 0)
      BOOST_TEST(e.context.read_tensor(y).get().size() == n * n * sizeof(float));
    else
      rejects(ErrorKind::operation_error, e.context.read_tensor(y));
  }
}

// A lane has as much as the largest that it ran lately.
BOOST_AUTO_TEST_CASE(graphs_of_a_lane_share_their_arena) {
  if (needs_the_processor("an instance has its own")) return;
  const auto chain = [](const Context& context, std::uint32_t size) {
    GraphBuilder builder(context);
    const auto x = builder.input("x", {DataType::float32, {size, size}});
    return builder.build({{"y", builder.matmul(builder.softmax(x, 1), x)}}).get();
  };
  Embedder e;
  const auto run = [&](const Graph& graph, std::uint32_t size) {
    const std::vector<float> ones(std::size_t{size} * size, 1);
    NamedBuffers in, out;
    in.emplace_back("x", Buffer::copy_of(ones));
    out.emplace_back("y", Buffer(ones.size() * sizeof(float)));
    auto result = e.context.compute(graph, std::move(in), std::move(out)).get();
    BOOST_TEST_REQUIRE(result.status.has_value());
    for (const float each : result.outputs[0].second.as<float>())
      BOOST_REQUIRE_CLOSE(each, 1.F, 0.01F);
  };
  const auto before = e.context.stats().bytes;
  const auto small = chain(e.context, 64), large = chain(e.context, 192);
  const auto kept = before + small.memory().constants + large.memory().constants;
  BOOST_TEST_REQUIRE(small.memory().arena < large.memory().arena);
  for (const bool grows : {true, false}) {
    run(grows ? small : large, grows ? 64 : 192);
    run(grows ? large : small, grows ? 192 : 64);
    BOOST_TEST(rests_at(e.context, kept + large.memory().arena));
  }
  for (int i = 0; i < 600; ++i) run(small, 64);
  BOOST_TEST(rests_at(e.context, kept + small.memory().arena));
  run(large, 192);
  BOOST_TEST(rests_at(e.context, kept + large.memory().arena));
}

// Each of the graphs counts them all the same: any may be the last to hold them.
BOOST_AUTO_TEST_CASE(weights_that_are_alike_are_in_memory_once) {
  if (!can_tell_allocated()) return;
  constexpr std::uint32_t wide = 2048;  // 16 MiB
  constexpr std::size_t half = 8U << 20U;
  const OperandDescriptor matrix{DataType::float32, {wide, wide}};
  const auto build = [&](const Context& context, float first) {
    auto weights = Buffer::uninitialized(std::size_t{wide} * wide * sizeof(float));
    const auto w = weights.as<float>();
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = first + static_cast<float>(i % 509);
    GraphBuilder builder(context);
    const auto x = builder.input("x", {DataType::float32, {8, wide}});
    return builder.build({{"y", builder.matmul(x, builder.constant(matrix, std::move(weights)))}})
        .get();
  };
  Embedder one, other;
  const auto warm = build(one.context, 1), first = build(one.context, 2);
  const auto before = allocated_bytes();
  const auto alike = build(one.context, 2), elsewhere = build(other.context, 2);
  const auto with_two_more = allocated_bytes();
  BOOST_TEST(with_two_more < before + half, before << " bytes, then " << with_two_more);
  BOOST_TEST(elsewhere.memory().constants == first.memory().constants);
  const auto different = build(other.context, 3);
  BOOST_TEST(allocated_bytes() > with_two_more + half, "other weights are others");
}

BOOST_AUTO_TEST_SUITE_END()
