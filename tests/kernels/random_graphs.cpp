// Random graphs through the public interface: plans with passes, fusion, views and shared memory
// against the same graphs on reference kernels, step by step. POLYCHRON_GRAPHS: their number, from
// POLYCHRON_SEED on.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

#include "kernels/cpu/cpu_backend.hpp"
#include "polychron/polychron.hpp"
#include "runtime/runtime_state.hpp"
#include "tests/kernels/random_graph.hpp"

namespace polychron {
namespace {

using tests::RandomGraph;

struct Engine {
  explicit Engine(const kernels::PlanSettings& settings)
      : runtime(detail::RuntimeState::create(
            {}, [settings](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
              return kernels::make_cpu_backend(settings);
            })) {}
  /// The outputs of the graph of `seed`, after `runs` runs.
  std::vector<std::vector<float>> outputs(std::uint64_t seed, int runs) {
    GraphBuilder builder(context);
    const RandomGraph made(builder, seed);
    const Graph graph = builder.build(made.outputs()).get();
    std::mt19937 numbers(static_cast<std::uint32_t>(seed));
    NamedTensors in, out;
    for (const auto& [name, descriptor] : graph.inputs()) {
      const auto t = context.create_tensor({descriptor, false, true, {}}).get();
      std::vector<float> values(*element_count(descriptor.shape));
      for (float& value : values) value = static_cast<float>(numbers() % 2001) / 1000.0F - 1.0F;
      context.write_tensor(t, values);
      in.emplace_back(name, t);
    }
    for (const auto& [name, descriptor] : graph.outputs())
      out.emplace_back(name, context.create_tensor({descriptor, true, false, {}}).get());
    for (int i = 0; i < runs; ++i) context.dispatch(graph, in, out);
    std::vector<std::vector<float>> results;
    for (const auto& [name, t] : out) {
      const auto bytes = context.read_tensor(t).get();
      const auto values = bytes.as<float>();
      results.emplace_back(values.begin(), values.end());
    }
    plan = graph.plan();
    return results;
  }

  Runtime runtime;
  Context context = runtime.create_context().get();
  std::vector<std::string> plan;
};

/// The effect of another order of sums on rows that nearly cancel (1 graph in 150,000 was off by
/// 2e-4). Mistakes were off by 0.1 and more.
constexpr double tolerance = 1e-3;

/// The largest difference, as a part of the largest value or of 1.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, scale = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::fmax(most, std::fabs(static_cast<double>(a[i]) - b[i]));
    if (std::isnan(a[i]) != std::isnan(b[i])) return 1;
    scale = std::fmax(scale, std::fabs(static_cast<double>(b[i])));
  }
  return most / scale;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_graphs)

BOOST_AUTO_TEST_CASE(plans_compute_what_the_reference_computes) {
  const char* given = std::getenv("POLYCHRON_SEED");
  const std::uint64_t first = given == nullptr ? 1 : std::stoull(given);
  const char* many = std::getenv("POLYCHRON_GRAPHS");
  const std::uint64_t count = many == nullptr ? 1000 : std::stoull(many);
  Engine fast({}), plain({.optimize = false, .reference_only = true});
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto actual = fast.outputs(seed, 2), expected = plain.outputs(seed, 1);
    BOOST_REQUIRE_EQUAL(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double off = difference(actual[i], expected[i]);
      BOOST_TEST(off < tolerance,
                 "POLYCHRON_SEED=" << seed << ": output " << i << " is off by " << off);
      if (!(off < tolerance))
        for (const std::string& step : fast.plan) BOOST_TEST_MESSAGE("  " << step);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
