// Builds that dispatches may follow at once (msg::Build::early): the dispatch keeps its place on
// the timeline under every schedule, and inherits the build's error.
#include "runtime/handles.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// A graph whose build has been called, and nothing more.
struct Early {
  explicit Early(Server& s, const std::string& label = "g")
      : handle(std::make_shared<detail::GraphHandle>(detail::ContextHandle::of(s.context), label)) {
    auto description = graph_of_tests(label, 1);
    for (const auto& [name, value] : description->inputs)
      handle->built.inputs.emplace_back(name, description->values[value].descriptor);
    for (const auto& [name, value] : description->outputs)
      handle->built.outputs.emplace_back(name, description->values[value].descriptor);
    built = detail::submit_early_build(*handle, std::move(description), {});
  }
  Graph graph() const { return detail::GraphHandle::wrap(handle); }

  std::shared_ptr<detail::GraphHandle> handle;
  Future<msg::Built> built;
};

constexpr std::uint64_t seeds_tried = 300;

}  // namespace

BOOST_AUTO_TEST_SUITE(early_builds)

BOOST_AUTO_TEST_CASE(a_dispatch_keeps_its_place_under_every_schedule) {
  for (const int lanes : {1, 2})
    for (std::uint64_t seed = seed_of_run(); seed < seed_of_run() + seeds_tried; ++seed) {
      Server s({.lanes = lanes}, seed);
      const auto in = s.tensor("in"), out = s.tensor("out"), other = s.tensor("other");
      s.write(in, 1);
      const Early early(s);
      s.dispatch(early.graph(), in, out);
      s.write(in, 2);
      auto first = s.context.read_tensor(out);
      s.write(other, 5);
      s.dispatch(early.graph(), in, out);
      auto second = s.context.read_tensor(out);
      s.write(out, 9);
      s.world.run();
      const auto value = [](Future<Buffer>& read) {
        return read.take().value().to_vector<std::uint64_t>()[0];
      };
      BOOST_TEST_CONTEXT("POLYCHRON_SEED=" << seed << ", lanes " << lanes) {
        BOOST_TEST(value(first) == Server::result("g", 1));
        BOOST_TEST(value(second) == Server::result("g", 2));
        BOOST_TEST(s.read(out).value() == 9U);
        BOOST_TEST(s.read(other).value() == 5U);
        BOOST_TEST(s.context.stats().in_flight == 0U);
      }
    }
}

BOOST_AUTO_TEST_CASE(a_refused_build_makes_the_outputs_errored) {
  for (std::uint64_t seed = seed_of_run(); seed < seed_of_run() + seeds_tried; ++seed) {
    Server s({}, seed);
    const auto in = s.tensor("in"), out = s.tensor("out"), next = s.tensor("next");
    const auto later = s.graph("later");
    s.write(in, 1);
    s.faults->fail(FaultPoint::compile, 1, {.kind = ErrorKind::not_supported});
    {
      Early early(s);
      s.dispatch(early.graph(), in, out);
      s.dispatch(later, out, next);
      BOOST_TEST_CONTEXT("POLYCHRON_SEED=" << seed) {
        rejected(ErrorKind::not_supported, s.world.settle(std::move(early.built)));
        const auto error = rejected(ErrorKind::operation_error, s.read(next));
        BOOST_TEST((error.root().kind() == ErrorKind::not_supported));
        BOOST_TEST(mentions(error, "graph 'g' is invalid"));
        s.write(out, 3);
        BOOST_TEST(s.read(out).value() == 3U);
      }
    }
    s.world.run();
    BOOST_TEST(s.context.stats().graphs == 1U);
    BOOST_TEST(s.context.stats().in_flight == 0U);
  }
}

BOOST_AUTO_TEST_CASE(the_end_of_the_context_settles_everything) {
  for (std::uint64_t seed = seed_of_run(); seed < seed_of_run() + seeds_tried; ++seed) {
    Server s({}, seed);
    const auto in = s.tensor("in"), out = s.tensor("out");
    Early early(s);
    s.dispatch(early.graph(), in, out);
    auto read = s.context.read_tensor(out);
    s.context.destroy();
    s.world.run();
    BOOST_TEST_CONTEXT("POLYCHRON_SEED=" << seed) {
      BOOST_REQUIRE((read.ready() && early.built.ready()));
      rejected(ErrorKind::invalid_state, read.take());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_refused_dispatch_makes_its_outputs_errored) {
  Server s;
  const auto out = s.tensor("out");
  auto& port = *detail::ContextHandle::of(s.context)->port;
  msg::Dispatch call;
  call.outputs = {detail::TensorHandle::of(out)->id};
  call.label = "misfit";
  call.refused = msg::Report{Error(ErrorKind::type_error, "dimension 'n' is 2")};
  port.submit(std::move(call), {});
  s.world.run();
  const auto error = s.read(out).error();
  BOOST_TEST(mentions(error, "dispatch 'misfit'"));
  BOOST_TEST(mentions(error, "dimension 'n' is 2"));
}

BOOST_AUTO_TEST_SUITE_END()
