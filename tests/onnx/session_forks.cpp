// Sessions in a forked child: calls of its parent's are refused, and none waits for a lock.
#include <atomic>
#include <optional>
#include <thread>

#include "polychron/sessions.hpp"
#include "tests/forked.hpp"
#include "tests/onnx/session_fixture.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)

BOOST_AUTO_TEST_SUITE(session_forks)

BOOST_AUTO_TEST_CASE(are_not_for_sanitizers) {
  BOOST_TEST_MESSAGE("skipped: sanitizers do not follow the fork of a process with threads");
}

BOOST_AUTO_TEST_SUITE_END()

#else

using namespace onnx_tests;
using polychron::NamedTensors;
using polychron::Runtime;
using polychron::onnx::Sessions;
using polychron::testing::Forked;

BOOST_AUTO_TEST_SUITE(session_forks)

BOOST_AUTO_TEST_CASE(calls_in_the_child_are_refused_and_a_session_of_its_own_works) {
  const auto model = load(arithmetic().bytes());
  Runtime runtime;
  const auto context = runtime.create_context().get();
  auto session = std::make_optional<Session>(context, model, of_rows(1));
  auto sessions = std::make_optional<Sessions>(context, model);
  const std::map<std::string, Shape> one_row{{"n", {1}}};
  const auto a = session->create_input_tensor("a").get();
  const auto b = session->create_input_tensor("b").get();
  const NamedTensors inputs{{"a", a}, {"b", b}};
  const auto run = [&] { return session->run({{"a", Floats{1, 2}}, {"b", Floats{3, 4}}}); };
  // Spare outputs are taken and kept at any moment.
  std::atomic<bool> ended{false};
  std::thread busy([&] {
    while (!ended) {
      session->dispatch(inputs, {});
      session->warm_up().get();
      static_cast<void>(sessions->at(one_row));
    }
  });
  std::string failed;
  for (int i = 0; i < 20 && failed.empty(); ++i)
    failed = Forked::run([&](Forked& child) {
      child.refuses("run", run);
      child.refuses("profile", [&] {
        return session->profile({{"a", Floats{1, 2}}, {"b", Floats{3, 4}}});
      });
      child.refuses("dispatch", [&] { session->dispatch(inputs, {}); });
      child.refuses("warm_up", [&] { return session->warm_up(); });
      child.refuses("input tensor", [&] { return session->create_input_tensor("a"); });
      child.refuses("output tensor", [&] { return session->create_output_tensor("sum"); });
      child.refuses("at", [&] { sessions->at(one_row); });
      child.refuses("at, of another shape", [&] { sessions->at({{"n", {2}}}); });
      child.refuses("prepare", [&] { sessions->prepare(one_row); });
      child.refuses("size", [&] { sessions->size(); });
      child.refuses("another session", [&] { Session(context, model, of_rows(1)); });
      child.expect("what a session is", [&] {
        return session->label() == "arithmetic" && session->inputs().size() == 2;
      });
      child.expect("the end", [&] {
        session->destroy();
        session.reset();
        sessions.reset();
        return true;
      });
      child.expect("a session of its own", [&] {
        const Session own(model, of_rows(1));
        const auto sum = own.run({{"a", Floats{1, 2}}, {"b", Floats{3, 4}}}).get();
        return values(sum, "sum") == Floats{4, 6};
      });
    });
  ended = true;
  busy.join();
  BOOST_TEST(failed.empty(), "in the child: " << failed);
  same(values(run().get(), "sum"), {4, 6});
}

BOOST_AUTO_TEST_SUITE_END()

#endif
