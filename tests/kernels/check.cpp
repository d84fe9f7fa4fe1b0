// The checks of compiled graphs find each way of breaking one, in every build.
#include "kernels/cpu/check.hpp"

#include <boost/test/unit_test.hpp>

#include "base/invariant.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "tests/kernels/graphs.hpp"

namespace polychron {
namespace {

using kernels::PlanGraph;
using ops::op;
using tests::GraphMaker;

/// relu(x) + y, with y a constant.
PlanGraph sound() {
  GraphMaker maker;
  const auto x = maker.input({2, 3});
  const auto positive = maker.node(op("relu"), {x}, {2, 3});
  maker.output(maker.node(op("add"), {positive, maker.random({3})}, {2, 3}));
  return PlanGraph(maker.graph());
}

template <class Break>
void broken(const char* what, Break&& break_it) {
  PlanGraph graph = sound();
  break_it(graph);
  try {
    check_graph(graph, "a pass");
    BOOST_ERROR("not seen: " << what);
  } catch (const BrokenInvariant& error) {
    const std::string text = error.what();
    BOOST_TEST(text.find(what) != std::string::npos, text << " lacks " << what);
    BOOST_TEST(text.find("after a pass") != std::string::npos, text);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(check)

BOOST_AUTO_TEST_CASE(sound_graphs_pass) { check_graph(sound(), "nothing"); }

BOOST_AUTO_TEST_CASE(broken_graphs_are_seen) {
  broken("reads what is made before",
         [](PlanGraph& graph) { std::swap(graph.nodes[0], graph.nodes[1]); });
  broken("a value is made once",
         [](PlanGraph& graph) { graph.nodes[1].outputs = graph.nodes[0].outputs; });
  broken("reads what is made before", [](PlanGraph& graph) { graph.nodes[0].inputs[0] = 99; });
  broken("a graph's output is made", [](PlanGraph& graph) { graph.nodes.pop_back(); });
  broken("removed nodes are swept out", [](PlanGraph& graph) { graph.nodes[0].removed = true; });
  broken("a result has its operator's shape", [](PlanGraph& graph) {
    graph.values[graph.nodes[1].outputs[0]].descriptor.shape = {3, 2};
  });
  broken("an operator allows its operands",
         [](PlanGraph& graph) { graph.nodes[0].attributes = LinearAttributes{}; });
  broken("a constant has its descriptor's bytes",
         [](PlanGraph& graph) { graph.values[graph.nodes[1].inputs[1]].descriptor.shape = {1}; });
  broken("behind the operator's own", [](PlanGraph& graph) {
    graph.nodes[1].post_ops = {{op("add"), {}, {0}}};
  });
}

BOOST_AUTO_TEST_CASE(a_broken_graph_fails_its_build_as_a_defect) {
  GraphMaker maker;
  const auto x = maker.input({2, 3});
  maker.output(maker.node(op("relu"), {x}, {3, 3}));
  const auto plan = kernels::make_cpu_backend()->compile(maker.share());
  BOOST_REQUIRE(!plan);
  BOOST_TEST((plan.error().kind() == ErrorKind::internal));
  BOOST_TEST(std::string(plan.error().what()).find("relu") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(memory_that_is_used_too_early_is_seen) {
  kernels::ArenaCheck arena;
  arena.write({0, 64}, 1);
  arena.write({64, 128}, 2);
  arena.read({0, 64}, 1);
  arena.read({16, 32}, 1);  // a view
  BOOST_CHECK_THROW(arena.read({32, 96}, 1), BrokenInvariant);
  arena.write({32, 48}, 3);
  BOOST_CHECK_THROW(arena.read({0, 64}, 1), BrokenInvariant);
  arena.read({64, 128}, 2);
  arena.read({}, 9);  // nothing lies nowhere
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
