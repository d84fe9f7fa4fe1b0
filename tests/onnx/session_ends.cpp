// Sessions, their contexts and their runs end in any order, and everything settles.
#include <chrono>
#include <mutex>

#include "tests/onnx/session_fixture.hpp"

using namespace onnx_tests;
using polychron::Context;
using polychron::Future;
using polychron::onnx::RunOptions;

BOOST_AUTO_TEST_SUITE(session_ends)

namespace {

polychron::onnx::Model loaded() { return load(times(2).bytes()); }

std::vector<Future<NamedBuffers>> many_runs(const Session& session) {
  std::vector<Future<NamedBuffers>> replies;
  for (int i = 0; i < 100; ++i) replies.push_back(session.run({{"x", Floats{1, 2}}}));
  return replies;
}

/// Each has its outputs, or says that the context is gone.
void all_settle(std::vector<Future<NamedBuffers>> replies) {
  for (auto& reply : replies) {
    auto result = reply.take();
    if (result) {
      same(values(*result, "y"), {2, 4});
    } else {
      const auto kind = result.error().root().kind();
      BOOST_TEST((kind == ErrorKind::invalid_state || kind == ErrorKind::context_lost),
                 result.error().what());
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_called_before_destroy_still_runs) {
  const auto session = session_of(times(2));
  auto replies = many_runs(session);
  session.destroy();
  session.destroy();
  for (auto& reply : replies) same(values(reply.get(), "y"), {2, 4});
  auto x = buffer({1, 2});
  fails(ErrorKind::invalid_state, {"destroyed"}, [&] {
    session.run({{"x", std::move(x)}}).wait();
  });
  BOOST_TEST(!x.detached());  // the caller keeps it
  fails(ErrorKind::invalid_state, {"destroyed"}, [&] { session.warm_up().wait(); });
  BOOST_TEST(session.label() == "g");  // what it is is known for life
  BOOST_TEST(session.inputs().size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_was_called_before_the_last_handle_went_still_runs) {
  auto session = session_of(times(2));
  auto replies = many_runs(session);
  session = {};
  for (auto& reply : replies) same(values(reply.get(), "y"), {2, 4});
}

BOOST_AUTO_TEST_CASE(a_context_of_its_own_goes_with_the_last_handle) {
  Session session(loaded());
  auto own = session.context();
  auto replies = many_runs(session);
  session = {};
  all_settle(std::move(replies));
  fails(ErrorKind::invalid_state, {}, [&] {
    own.create_tensor({{polychron::DataType::float32, {1}}, true, true, ""}).get();
  });
}

BOOST_AUTO_TEST_CASE(a_context_that_goes_takes_its_runs_along) {
  polychron::Runtime runtime;
  auto own = runtime.create_context().get();
  const Session session(own, loaded());
  auto replies = many_runs(session);
  own.destroy();
  all_settle(std::move(replies));
  auto x = buffer({1, 2});
  fails(ErrorKind::invalid_state, {"destroyed"}, [&] {
    session.run({{"x", std::move(x)}}).wait();
  });
  BOOST_TEST(!x.detached());
  fails(ErrorKind::invalid_state, {"destroyed"}, [&] { session.create_input_tensor("x").get(); });
}

BOOST_AUTO_TEST_CASE(a_runtime_that_goes_takes_its_sessions_along) {
  Session session;
  std::vector<Future<NamedBuffers>> replies;
  {
    polychron::Runtime runtime;
    session = Session(runtime.create_context().get(), loaded());
    replies = many_runs(session);
  }
  all_settle(std::move(replies));
  fails(ErrorKind::invalid_state, {"shut down"}, [&] {
    session.run({{"x", Floats{1, 2}}}).wait();
  });
}

BOOST_AUTO_TEST_CASE(conditions_of_a_run_and_its_label) {
  const auto session = session_of(times(2));
  polychron::Cancellation cancelled;
  cancelled.cancel();
  const auto rejected = [&](ErrorKind kind, const RunOptions& options) {
    // Refused at the door, or by the device.
    fails(kind, {"'late'"}, [&] { session.run({{"x", Floats{1, 2}}}, options).get(); });
  };
  rejected(ErrorKind::aborted, {.label = "late", .cancellation = cancelled});
  rejected(
      ErrorKind::timed_out,
      {.label = "late", .deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1)});
  same(values(session.run({{"x", Floats{1, 2}}}).get(), "y"), {2, 4});
}

BOOST_AUTO_TEST_CASE(a_run_without_a_place_leaves_its_buffers) {
  polychron::Runtime runtime;
  auto own =
      runtime.create_context({.max_in_flight = 1, .admission = polychron::AdmissionPolicy::fail})
          .get();
  const Session session(own, loaded());
  const auto rented =
      own.create_tensor({{polychron::DataType::float32, {1}}, true, true, ""}).get();
  auto lease = own.export_tensor(rented).get();
  own.write_tensor(rented, Floats{1});  // waits for the lease, and has the only place
  auto x = buffer({1, 2});
  fails(ErrorKind::quota_exceeded, {}, [&] { session.run({{"x", std::move(x)}}).wait(); });
  fails(ErrorKind::quota_exceeded, {}, [&] {
    auto inputs = named(std::pair("x", buffer({1, 2})));
    session.run(std::move(inputs)).wait();
  });
  same(x.to_vector<float>(), {1, 2});
  lease.return_now();
  own.read_tensor(rented).wait();
}

BOOST_AUTO_TEST_CASE(answers_are_heard_where_the_runtime_runs_callbacks) {
  std::mutex mutex;
  std::vector<std::function<void()>> tasks;
  const Session session(loaded(), {}, {}, {.executor = [&](std::function<void()> task) {
                          const std::lock_guard lock(mutex);
                          tasks.push_back(std::move(task));
                        }});
  Floats heard;
  auto answer = session.run({{"x", Floats{1, 2}}});
  answer.wait();
  answer.then([&](polychron::Result<NamedBuffers> outputs) { heard = values(*outputs, "y"); });
  BOOST_TEST(heard.empty());  // not in the call
  BOOST_REQUIRE_EQUAL(tasks.size(), 1U);
  tasks[0]();
  same(heard, {2, 4});
}

BOOST_AUTO_TEST_CASE(callbacks_may_run_it_and_wait) {
  const Session session(loaded());
  const auto promise = polychron::Promise<float>::make();
  auto last = promise.future();
  session.run({{"x", Floats{1, 2}}}).then([&](polychron::Result<NamedBuffers> outputs) {
    const auto twice = values(*outputs, "y");
    promise.resolve(values(session.run({{"x", twice}}).get(), "y")[1]);
  });
  BOOST_TEST(last.get() == 8.0F);
}

BOOST_AUTO_TEST_CASE(the_last_handle_may_go_in_a_callback) {
  auto session = std::make_shared<Session>(loaded());
  const auto promise = polychron::Promise<void>::make();
  auto gone = promise.future();
  auto answer = session->run({{"x", Floats{1, 2}}});
  answer.then([session = std::move(session), promise](auto) mutable {
    session.reset();
    promise.resolve();
  });
  gone.get();
}

BOOST_AUTO_TEST_SUITE_END()
