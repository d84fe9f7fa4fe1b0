// Sessions: models that are run by name.
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/onnx/session_fixture.hpp"
#include "tests/task.hpp"

using namespace onnx_tests;
using polychron::future_of;

BOOST_AUTO_TEST_SUITE(session)

namespace {

struct File {
  std::filesystem::path path;
  explicit File(const Model& model) {
    auto pattern = (std::filesystem::temp_directory_path() / "polychron-session-XXXXXX").string();
    BOOST_REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = std::filesystem::path(pattern) / "small model.onnx";
    std::ofstream(path, std::ios::binary) << model.bytes();
  }
  ~File() { std::filesystem::remove_all(path.parent_path()); }
};

/// Every call that takes options or a list, with these in braces; see tests/api/awaiting.cpp.
polychron::testing::Task in_braces(NamedBuffers& run, std::size_t& steps, NamedBuffers& computed) {
  const auto model = load(arithmetic().bytes());
  const auto session = co_await future_of([&] {
    return Session::build(
        context(), model,
        {.bindings = {{"n", {1}}}, .label = "a label of more than a few letters"});
  });
  run = co_await future_of([&] {
    return session.run({{"b", Floats{3, 4}}, {"a", Floats{1, 2}}},
                       {.label = session.label(), .outputs = {"product", "sum"}});
  });
  auto profile = co_await future_of([&] {
    return session.profile({{"b", Floats{3, 4}}, {"a", Floats{1, 2}}}, {.outputs = {"sum"}});
  });
  steps = profile.steps.size();
  auto inputs = named(std::pair("a", buffer({1, 2})), std::pair("b", buffer({5, 7})));
  auto outputs = named(std::pair("sum", Buffer(8)), std::pair("product", Buffer(8)),
                       std::pair("difference", Buffer(8)));
  auto result = co_await future_of([&] {
    return session.compute(std::move(inputs), std::move(outputs), {.label = session.label()});
  });
  computed = std::move(result.outputs);
}

/// Options that are left out are made where the call is, too.
polychron::testing::Task without_options(const Session& session,
                                         std::initializer_list<polychron::onnx::Input> inputs,
                                         std::size_t& seen) {
  auto profiling = session.profile(inputs);
  const auto run = co_await session.run(inputs);
  const auto profile = co_await std::move(profiling);
  seen = run.size() + (profile.steps.empty() ? 0 : 1);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_list_without_options_in_a_coroutine) {
  const auto session = session_of(arithmetic(), of_rows(1));
  std::size_t seen = 0;
  auto task = without_options(session, {{"b", Floats{3, 4}}, {"a", Floats{1, 2}}}, seen);
  task.end.get();
  BOOST_TEST(seen == 4U);
}

BOOST_AUTO_TEST_CASE(every_call_with_braces_in_a_coroutine) {
  NamedBuffers run, computed;
  std::size_t steps = 0;
  auto task = in_braces(run, steps, computed);
  task.end.get();
  BOOST_REQUIRE_EQUAL(run.size(), 2U);
  BOOST_TEST(run[0].first == "product");
  same(values(run, "product"), {3, 8});
  same(values(run, "sum"), {4, 6});
  BOOST_TEST(steps > 0U);
  same(values(computed, "difference"), {-4, -5});
}

BOOST_AUTO_TEST_CASE(runs_by_name_in_any_order) {
  const auto session = session_of(arithmetic(), of_rows(1));
  const auto outputs = session.run({{"b", Floats{3, 4}}, {"a", Floats{1, 2}}}).get();
  BOOST_REQUIRE_EQUAL(outputs.size(), 3U);
  BOOST_TEST(outputs[0].first == "sum");  // in the model's order
  BOOST_TEST(outputs[1].first == "product");
  BOOST_TEST(outputs[2].first == "difference");
  same(values(outputs, "sum"), {4, 6});
  same(values(outputs, "product"), {3, 8});
  same(values(outputs, "difference"), {-2, -2});
}

BOOST_AUTO_TEST_CASE(tells_what_it_is) {
  const auto session = session_of(arithmetic(), of_rows(3));
  BOOST_TEST(session.label() == "arithmetic");
  BOOST_TEST(session.summary().producer == "test");
  BOOST_TEST(to_string(session.summary().inputs.at(0)) == "float [n, 2]");
  BOOST_REQUIRE_EQUAL(session.inputs().size(), 2U);
  BOOST_TEST(session.inputs()[1].first == "b");
  BOOST_TEST(to_string(session.inputs()[1].second) == "float32 [3, 2]");
  BOOST_REQUIRE_EQUAL(session.outputs().size(), 3U);
  BOOST_TEST(to_string(session.outputs()[0].second) == "float32 [3, 2]");
  BOOST_TEST(session.graph().label() == "arithmetic");
  BOOST_TEST((session.context() == context()));
}

BOOST_AUTO_TEST_CASE(a_file_on_a_context_of_its_own) {
  const File file(times(3));
  const Session session(file.path, {}, {.threads = 1, .lanes = 2});
  BOOST_TEST(session.label() == "small model");
  BOOST_TEST(session.context().label() == "small model");
  same(values(session.run({{"x", Floats{1, 2}}}).get(), "y"), {3, 6});
}

BOOST_AUTO_TEST_CASE(a_file_on_a_given_context) {
  const File file(arithmetic());
  const Session session(context(), file.path, {.bindings = {{"n", {1}}}});
  BOOST_TEST(session.label() == "small model");
  same(values(session.run({{"a", Floats{1, 2}}, {"b", Floats{3, 4}}}).get(), "sum"), {4, 6});
}

BOOST_AUTO_TEST_CASE(buffers_move_in_and_nothing_is_copied) {
  const auto session = session_of(arithmetic(), of_rows(1));
  auto a = buffer({1, 2}), b = buffer({3, 4});
  const auto before = context().stats();
  auto future = session.run({{"a", std::move(a)}, {"b", std::move(b)}});
  BOOST_TEST(a.detached());
  BOOST_TEST(b.detached());
  same(values(future.get(), "sum"), {4, 6});
  const auto after = context().stats();
  BOOST_TEST(after.copies == before.copies);
  BOOST_TEST(after.computes == before.computes + 1);
}

BOOST_AUTO_TEST_CASE(named_buffers_serve_as_well) {
  const auto session = session_of(arithmetic(), of_rows(1));
  auto inputs = named(std::pair("b", buffer({3, 4})), std::pair("a", buffer({1, 2})));
  same(values(session.run(std::move(inputs)).get(), "difference"), {-2, -2});
}

BOOST_AUTO_TEST_CASE(buffers_of_the_callers_come_back) {
  const auto session = session_of(times(2));
  auto x = buffer({1, 2}), y = Buffer(8);
  const auto *const at_x = x.data(), *const at_y = y.data();
  auto result =
      session.compute(named(std::pair("x", std::move(x))), named(std::pair("y", std::move(y))))
          .get();
  BOOST_TEST(result.status.has_value());
  BOOST_TEST(result.inputs.at(0).second.data() == at_x);
  BOOST_TEST(result.outputs.at(0).second.data() == at_y);
  same(values(result.outputs, "y"), {2, 4});
}

BOOST_AUTO_TEST_CASE(bytes_serve_for_any_type) {
  const auto session = session_of(times(2));
  const std::vector<std::uint8_t> zeros(8);
  same(values(session.run({{"x", zeros}}).get(), "y"), {0, 0});
}

BOOST_AUTO_TEST_CASE(outputs_that_are_wanted_in_their_order) {
  const auto session = session_of(arithmetic(), of_rows(1));
  for (int i = 0; i < 5; ++i) {
    const auto outputs =
        session.run({{"a", Floats{1, 2}}, {"b", Floats{3, 4}}}, {.outputs = {"difference", "sum"}})
            .get();
    BOOST_REQUIRE_EQUAL(outputs.size(), 2U);
    BOOST_TEST(outputs[0].first == "difference");
    same(outputs[0].second.to_vector<float>(), {-2, -2});
    same(outputs[1].second.to_vector<float>(), {4, 6});
  }
}

BOOST_AUTO_TEST_CASE(values_known_at_import_are_no_inputs) {
  auto options = of_rows(1);
  options.constants.emplace(
      "b", polychron::onnx::make_value({polychron::DataType::float32, {1, 2}}, buffer({10, 20})));
  const auto session = session_of(arithmetic(), options);
  BOOST_TEST(session.inputs().size() == 1U);
  same(values(session.run({{"a", Floats{1, 2}}}).get(), "sum"), {11, 22});
  fails(ErrorKind::type_error, {"input 'b'", "given a value when the model was imported"}, [&] {
    session.run({{"a", Floats{1, 2}}, {"b", Floats{1, 2}}}).wait();
  });
}

BOOST_AUTO_TEST_CASE(what_the_import_warns_of_is_heard) {
  std::vector<std::string> warnings;
  const auto model = Model()
                         .node("Neg", {"x"}, {"y"})
                         .input("x", proto::TensorProto::DOUBLE, {2})
                         .output("y", proto::TensorProto::DOUBLE);
  session_of(model, {.on_warning = [&](const std::string& text) { warnings.push_back(text); }});
  BOOST_REQUIRE_EQUAL(warnings.size(), 1U);
  BOOST_TEST(warnings[0].find("'x' is double") != std::string::npos, warnings[0]);
}

BOOST_AUTO_TEST_CASE(what_the_import_warns_of_is_logged) {
  std::vector<std::string> lines;
  const auto model = Model()
                         .node("Neg", {"x"}, {"y"})
                         .input("x", proto::TensorProto::DOUBLE, {2})
                         .output("y", proto::TensorProto::DOUBLE);
  {
    const Session session(load(model.bytes()), {}, {.label = "main"},
                          {.log = [&](const polychron::LogRecord& record) {
                            lines.push_back(record.source + ": " + record.message);
                          }});
  }  // waits for the callbacks
  BOOST_REQUIRE_EQUAL(lines.size(), 1U);
  BOOST_TEST(lines[0].starts_with("context 'main': import: input 'x' is double"), lines[0]);
}

BOOST_AUTO_TEST_CASE(several_are_compiled_at_once) {
  std::vector<polychron::Future<Session>> building;
  for (int factor = 1; factor <= 8; ++factor)
    building.push_back(Session::build(context(), load(times(factor).bytes())));
  float factor = 1;
  for (auto& future : building) {
    const auto session = future.get();
    same(values(session.run({{"x", Floats{1, 2}}}).get(), "y"), {factor, 2 * factor});
    ++factor;
  }
}

BOOST_AUTO_TEST_CASE(any_thread_runs_it_at_any_time) {
  polychron::Runtime runtime;
  const auto own = runtime.create_context({.lanes = 2}).get();
  const Session session(own, load(arithmetic().bytes()), of_rows(1));
  constexpr int threads = 4, runs = 200;
  std::vector<std::thread> clients;
  std::vector<int> right(threads, 0);
  for (int t = 0; t < threads; ++t)
    clients.emplace_back([&, t] {
      const auto mine = session;  // copies are the same session
      std::vector<polychron::Future<NamedBuffers>> replies;
      for (int i = 0; i < runs; ++i) {
        const Floats a{static_cast<float>(t), static_cast<float>(i)}, b{1, 2};
        polychron::onnx::RunOptions options;
        if (i % 2 == 1) options.outputs = {"sum"};  // the others are spare
        replies.push_back(mine.run({{"a", a}, {"b", b}}, options));
      }
      for (int i = 0; i < runs; ++i) {
        const auto outputs = replies[static_cast<std::size_t>(i)].get();
        const Floats sum{static_cast<float>(t + 1), static_cast<float>(i + 2)};
        const Floats product{static_cast<float>(t), static_cast<float>(2 * i)};
        if (values(outputs, "sum") != sum) continue;
        right[static_cast<std::size_t>(t)] += i % 2 == 1 || values(outputs, "product") == product;
      }
    });
  for (auto& client : clients) client.join();
  for (int t = 0; t < threads; ++t)
    BOOST_TEST(right[static_cast<std::size_t>(t)] == runs, "thread " << t);
}

BOOST_AUTO_TEST_CASE(the_first_run_may_be_over_before_the_first_request) {
  const auto session = session_of(arithmetic(), of_rows(1));
  const auto before = context().stats();
  session.warm_up().get();
  session.warm_up(3).get();
  const auto after = context().stats();
  BOOST_TEST(after.computes == before.computes + 4);
  BOOST_TEST(after.in_flight == 0U);
  fails(ErrorKind::type_error, {"at_once", "0"}, [&] { session.warm_up(0).wait(); });
}

BOOST_AUTO_TEST_CASE(a_profile_has_a_time_for_each_step) {
  const auto model = Model()
                         .node("Sinh", {"x"}, {"h"})
                         .node("Softmax", {"h"}, {"y"})
                         .input("x", ramp({256, 64}))
                         .output("y")
                         .output("h");
  const auto session = session_of(model);
  const Floats x(256 * 64);
  const auto profile = session.profile({{"x", x}}, {.outputs = {"y"}}).get();
  BOOST_TEST(profile.outputs.size() == 1U);
  BOOST_TEST(values(profile.outputs, "y")[0] == 1.0F / 64);
  BOOST_REQUIRE_EQUAL(profile.steps.size(), session.graph().plan().size());
  std::size_t softmax = 0;
  for (std::size_t i = 0; i < profile.steps.size(); ++i) {
    const auto& step = profile.steps[i];
    BOOST_TEST(session.graph().plan()[i] ==
               step.implementation + ": [" + step.label + "] " + step.operation);
    BOOST_TEST(step.seconds > 0);
    softmax += step.label == "the_Softmax" && step.operation.starts_with("softmax");
  }
  BOOST_TEST(softmax == 1U);
  fails(ErrorKind::type_error, {"input 'x' is not given"}, [&] { session.profile({}).wait(); });
}

BOOST_AUTO_TEST_CASE(who_asks_for_no_profile_gets_none) {
  const auto session = session_of(times(2));
  const auto compute = [&](bool profile) {
    return session
        .compute(named(std::pair("x", buffer({1, 2}))), named(std::pair("y", Buffer(8))),
                 {.profile = profile})
        .get();
  };
  BOOST_TEST(compute(false).profile.empty());
  BOOST_TEST(compute(true).profile.size() == session.graph().plan().size());
}

BOOST_AUTO_TEST_CASE(copies_are_the_same_session) {
  const auto session = session_of(times(2));
  auto copy = session;
  BOOST_TEST((copy == session));
  BOOST_TEST((copy != session_of(times(2))));
  BOOST_TEST(static_cast<bool>(copy));
  copy = {};
  BOOST_TEST(!copy);
  same(values(session.run({{"x", Floats{1, 2}}}).get(), "y"), {2, 4});
}

BOOST_AUTO_TEST_SUITE_END()
