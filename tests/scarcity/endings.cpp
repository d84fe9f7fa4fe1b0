// Allocations that fail while something ends: a context with work of all kinds, a runtime.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/patience.hpp"
#include "tests/rig.hpp"
#include "tests/scarcity/scarce.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// A context with two busy lanes, and replies of every sort owed.
struct Busy : Rig {
  Busy() : Rig(two_lanes()) {
    graph = twice();
    a = tensor();
    b = tensor();
    lease = context.export_tensor(a).get();
    for (std::uint64_t lane = 1; lane <= 2; ++lane)
      faults->fail(stress::FaultPoint::execute, lane, {.until = gate.latch()});
    for (int i = 0; i < 4; ++i) {
      NamedBuffers in, out;
      in.emplace_back("in", Buffer(16));
      out.emplace_back("out", Buffer(16));
      computes.push_back(context.compute(graph, std::move(in), std::move(out)));
      reads.push_back(context.read_tensor(a, Buffer(16)));
    }
    query = b.error();
    context.push_error_scope(ErrorFilter::internal);
    pop = context.pop_error_scope();
    built = build();
    creation = context.create_tensor(floats());
    loss = context.lost();
    comes([&] { return context.stats().running.size() == 2; });
  }
  static ContextOptions two_lanes() {
    ContextOptions options;
    options.lanes = 2;
    return options;
  }
  bool settled() const {
    const auto ready = [](const auto& reply) { return reply.ready(); };
    return std::ranges::all_of(computes, ready) && std::ranges::all_of(reads, ready) &&
           query.ready() && pop.ready() && built.ready() && creation.ready() && loss.ready();
  }

  Gate gate;
  Graph graph;
  Tensor a, b;
  TensorLease lease;
  std::vector<Future<ComputeResult>> computes;
  std::vector<Future<ReadResult>> reads;
  Future<std::optional<Error>> query, pop;
  Future<Graph> built;
  Future<Tensor> creation;
  Future<LostInfo> loss;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(endings)

BOOST_AUTO_TEST_CASE(of_a_context) {
  int misses = 0;
  for (std::int64_t nth = 1; misses < 3 && nth < 200; ++nth) {
    auto busy = std::make_unique<Busy>();
    LibraryAllocationFails failing(nth);
    busy->context.destroy();
    busy->gate.open();
    const bool settled = comes([&] { return busy->settled(); });
    const bool ended = settled && busy->runtime.shutdown(std::chrono::seconds(20)).empty();
    misses = failing.happened() ? 0 : misses + 1;
    failing.end();
    BOOST_TEST(settled, "allocation " << nth << ": not every reply came");
    BOOST_TEST(ended, "allocation " << nth << ": somebody stays");
    if (!ended) {
      static_cast<void>(busy.release());  // its end would not end
      return;
    }
    // All lent buffers are back, after any failure.
    for (auto& compute : busy->computes) {
      auto result = compute.take();
      BOOST_REQUIRE(result);
      BOOST_TEST(result->inputs.at(0).second.size() == 16U);
      BOOST_TEST(result->outputs.at(0).second.size() == 16U);
    }
    for (auto& read : busy->reads) BOOST_TEST(read.get().buffer.size() == 16U);
    busy->lease.return_now();
    const auto stats = busy->context.stats();
    BOOST_TEST(stats.in_flight == 0U);
    BOOST_TEST(stats.tensors + stats.graphs == 0U);
    BOOST_TEST(stats.bytes == 0U);
  }
}

BOOST_AUTO_TEST_CASE(of_a_runtime_whatever_it_did_before) {
  for (int contexts = 0; contexts < 40; ++contexts) {
    auto runtime = std::make_unique<Runtime>();
    for (int i = 0; i < contexts; ++i) static_cast<void>(runtime->create_context().get());
    const OwnAllocationFails failing(1);
    runtime.reset();  // must not need memory
    BOOST_TEST(!failing.happened(), "after " << contexts << " contexts");
  }
}

BOOST_AUTO_TEST_CASE(of_objects_need_no_memory) {
  Rig rig;
  const auto g = std::make_unique<Graph>(rig.twice());
  const auto a = std::make_unique<Tensor>(rig.tensor()), b = std::make_unique<Tensor>(rig.tensor());
  auto lease = std::make_unique<TensorLease>(rig.context.export_tensor(*b).get());
  lease->on_revoked([] {});
  const auto needs_none = [](const char* what, const auto& end) {
    const OwnAllocationFails failing(1);
    end();
    BOOST_TEST(!failing.happened(), what << " asks for memory");
  };
  needs_none("return_now()", [&] { lease->return_now(); });
  needs_none("Tensor::destroy()", [&] { a->destroy(); });
  needs_none("Graph::destroy()", [&] { g->destroy(); });
  {
    const OwnAllocationFails failing(1);  // what it would say of the reason
    rig.context.destroy();
  }
  BOOST_TEST(static_cast<bool>(reply(rig.context.lost())));
}

BOOST_AUTO_TEST_CASE(of_a_promise_needs_no_memory) {
  auto promise = std::make_unique<Promise<int>>();
  auto future = promise->future();
  {
    const OwnAllocationFails failing(1);
    promise.reset();
    BOOST_TEST(!failing.happened());
  }
  refuses(ErrorKind::invalid_state, std::move(future));
}

BOOST_AUTO_TEST_SUITE_END()
