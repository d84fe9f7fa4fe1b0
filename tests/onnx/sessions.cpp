// Sessions of one model for requests of many shapes.
#include "polychron/sessions.hpp"

#include <thread>

#include "tests/onnx/session_fixture.hpp"
#include "tests/patience.hpp"

using namespace onnx_tests;
using polychron::onnx::Sessions;
using polychron::onnx::SessionsOptions;

BOOST_AUTO_TEST_SUITE(sessions)

namespace {

Sessions sessions_of(const SessionsOptions& options = {}) {
  return {context(), load(arithmetic().bytes()), options};
}

std::uint64_t builds() { return context().stats().builds; }

void refused(const std::function<void()>& call, const std::string& words) {
  BOOST_CHECK_EXCEPTION(call(), Error, [&](const Error& error) {
    BOOST_TEST((error.kind() == ErrorKind::type_error));
    BOOST_TEST(error.message().find(words) != std::string::npos, error.message());
    return true;
  });
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_shape_is_built_once) {
  const auto all = sessions_of({.session = {.label = "calculator"}});
  const auto before = builds();
  const auto three = all.at({{"n", {3}}});
  BOOST_TEST(three.label() == "calculator n=3");
  BOOST_TEST((three.inputs().front().second.shape == Shape{3, 2}));
  BOOST_TEST((all.at({{"n", {3}}}).graph() == three.graph()));
  BOOST_TEST((all.at({{"n", {4}}}).graph() != three.graph()));
  BOOST_TEST(builds() - before == 2U);
  BOOST_TEST(all.size() == 2U);
  const auto outputs =
      three.run({{"a", Floats{1, 2, 3, 4, 5, 6}}, {"b", Floats{1, 1, 1, 1, 1, 1}}}).get();
  BOOST_TEST(outputs.front().second.as<float>() == (Floats{2, 3, 4, 5, 6, 7}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(lengths_are_rounded_up) {
  const auto all = sessions_of({.round_up = {{"n", 32}}});
  const auto before = builds();
  const auto graph = all.at({{"n", {1}}}).graph();
  BOOST_TEST((all.at({{"n", {32}}}).graph() == graph));
  BOOST_TEST((all.at({{"a", {5, 2}}}).inputs().front().second.shape == Shape{32, 2}));
  BOOST_TEST((all.at({{"n", {33}}}).inputs().front().second.shape == Shape{64, 2}));
  BOOST_TEST(builds() - before == 2U);
  BOOST_TEST((all.rounded({{"b", {65, 2}}}).at("b") == Shape{96, 2}));
  refused([&] { all.at({{"n", {4294967295U}}}); }, "too large to be rounded up");
}

/// A product with a weight of 64 KiB: whatever a kernel makes of it is as large.
BOOST_AUTO_TEST_CASE(weights_of_several_shapes_are_counted_once) {
  const auto model = Model()
                         .node("MatMul", {"x", "w"}, {"y"})
                         .initializer("w", floats({128, 128}, std::vector<double>(128 * 128, 0.5)))
                         .input("x", proto::TensorProto::FLOAT, {"n", 128})
                         .output("y");
  polychron::Runtime runtime;
  auto own = runtime.create_context().get();
  const Sessions all(own, load(model.bytes()));
  const auto at = [&](std::uint32_t n) { return all.at({{"n", {n}}}).graph().memory().constants; };
  const auto first = at(8);
  BOOST_TEST(first >= 128U * 128 * sizeof(float));
  const auto used = own.stats().bytes;
  BOOST_TEST(at(8 * 3) >= first / 2);  // each graph tells all that it keeps
  BOOST_TEST(own.stats().bytes - used < first / 2);
}

// A table is used as it came, on any processor. What was counted is given back.
BOOST_AUTO_TEST_CASE(tables_of_several_shapes_are_counted_once) {
  const auto model = Model()
                         .node("Gather", {"w", "x"}, {"y"})
                         .initializer("w", floats({128, 128}, std::vector<double>(128 * 128, 0.5)))
                         .input("x", proto::TensorProto::INT32, {"n"})
                         .output("y");
  polychron::Runtime runtime;
  auto own = runtime.create_context().get();
  const auto at_first = own.stats().bytes;
  {
    const Sessions all(own, load(model.bytes()));
    const auto at = [&](std::uint32_t n) {
      return all.at({{"n", {n}}}).graph().memory().constants;
    };
    const auto first = at(8);
    BOOST_TEST(first >= 128U * 128 * sizeof(float));
    const auto used = own.stats().bytes;
    BOOST_TEST(used - at_first >= first);
    BOOST_TEST(at(8 * 3) == first);
    BOOST_TEST(own.stats().bytes - used < first / 2);
  }
  BOOST_TEST(polychron::testing::comes([&] { return own.stats().bytes == at_first; }));
}

BOOST_AUTO_TEST_CASE(the_one_that_was_asked_for_longest_ago_goes) {
  const auto all = sessions_of({.most = 2});
  const auto one = all.at({{"n", {1}}});
  all.at({{"n", {2}}});
  all.at({{"n", {1}}});
  all.at({{"n", {3}}});
  const auto before = builds();
  BOOST_TEST(all.size() == 2U);
  BOOST_TEST((all.at({{"n", {1}}}).graph() == one.graph()));
  BOOST_TEST(builds() == before);
  all.at({{"n", {2}}});
  BOOST_TEST(builds() - before == 1U);
  // A removed one still serves its holders.
  all.at({{"n", {5}}});
  BOOST_TEST(one.run({{"a", Floats{1, 2}}, {"b", Floats{3, 4}}}).get().size() == 3U);
}

BOOST_AUTO_TEST_CASE(threads_share_what_is_built) {
  const auto all = sessions_of({.round_up = {{"n", 8}}});
  const auto before = builds();
  std::vector<std::thread> threads;
  std::atomic<int> served{0};
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint32_t n = 1; n <= 16; ++n) {
        all.prepare({{"n", {(n + t) % 16 + 1}}});
        const auto session = all.at({{"n", {n}}});
        served += session.inputs().front().second.shape[0] >= n;
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(served == 64);
  BOOST_TEST(builds() - before == 2U);
}

namespace {

/// Runs nothing until it is told to.
struct Held {
  std::vector<std::function<void()>> tasks;
  std::function<void(std::function<void()>)> executor() {
    return [this](std::function<void()> task) { tasks.push_back(std::move(task)); };
  }
  void run() {
    for (const auto& task : std::exchange(tasks, {})) task();
  }
};

/// A model whose arena grows with n, and whose weight takes 64 KiB.
Model growing() {
  return Model()
      .node("MatMul", {"x", "w"}, {"product"})
      .node("Softmax", {"product"}, {"weights"})
      .node("MatMul", {"weights", "w"}, {"y"})
      .initializer("w", floats({128, 128}, std::vector<double>(128 * 128, 0.5)))
      .input("x", proto::TensorProto::FLOAT, {"n", 128})
      .output("y");
}

}  // namespace

BOOST_AUTO_TEST_CASE(final_refusals_are_kept_as_sessions_are) {
  const auto sum = Model()
                       .node("Add", {"a", "b"}, {"sum"})
                       .input("a", proto::TensorProto::FLOAT, {"n", 2})
                       .input("b", proto::TensorProto::FLOAT, {"m", 2})
                       .output("sum");
  Held held;
  const Sessions all(context(), load(sum.bytes()), {.most = 2, .executor = held.executor()});
  const auto shapes = [](std::uint32_t n, std::uint32_t m) {
    return std::map<std::string, Shape>{{"n", {n}}, {"m", {m}}};
  };
  for (int i = 0; i < 2; ++i) {
    BOOST_CHECK_THROW(all.at(shapes(2, 3)), Error);
    BOOST_TEST(all.size() == 1U);
  }
  auto again = all.get(shapes(2, 3));
  BOOST_TEST(held.tasks.empty());
  BOOST_CHECK_THROW(again.get(), Error);
  all.at(shapes(1, 1));
  all.at(shapes(2, 2));
  BOOST_TEST(all.size() == 2U);
  all.prepare(shapes(2, 3));
  BOOST_TEST(held.tasks.size() == 1U);  // it was the least recently used one
}

BOOST_AUTO_TEST_CASE(options_and_handles_are_checked) {
  refused([&] { sessions_of({.most = 0}); }, "most is 0");
  refused([&] { sessions_of({.round_up = {{"width", 32}}}); }, "no free dimension 'width'");
  refused([&] { sessions_of({.round_up = {{"n", 0}}}); }, "'n' is 0");
  refused([&] { Sessions().size(); }, "refers to nothing");
}

BOOST_AUTO_TEST_CASE(get_waits_for_nothing) {
  Held held;
  const auto all = sessions_of({.executor = held.executor()});
  const auto before = builds();
  auto first = all.get({{"n", {3}}});
  auto second = all.get({{"n", {3}}});
  all.prepare({{"n", {4}}});
  BOOST_TEST(!first.ready());
  BOOST_TEST(held.tasks.size() == 2U);  // one for each shape
  BOOST_TEST(all.size() == 2U);
  BOOST_TEST(builds() == before);
  held.run();
  const auto session = first.get();
  BOOST_TEST((session.inputs().front().second.shape == Shape{3, 2}));
  BOOST_TEST((second.get() == session));
  auto later = all.get({{"n", {3}}});
  BOOST_TEST(later.ready());
  BOOST_TEST((later.get() == session));
  BOOST_TEST((all.at({{"n", {4}}}).inputs().front().second.shape == Shape{4, 2}));
  BOOST_TEST(held.tasks.empty());
  BOOST_TEST(builds() - before == 2U);
}

BOOST_AUTO_TEST_CASE(at_waits_for_what_get_has_begun) {
  Held held;
  const auto all = sessions_of({.executor = held.executor()});
  auto first = all.get({{"n", {3}}});
  std::thread waiting([&] { BOOST_TEST((all.at({{"n", {3}}}) == first.get())); });
  held.run();
  waiting.join();
  // Alone, at() imports on its own thread.
  BOOST_TEST((all.at({{"n", {5}}}).inputs().front().second.shape == Shape{5, 2}));
  BOOST_TEST(held.tasks.empty());
}

BOOST_AUTO_TEST_CASE(get_rejects) {
  Held held;
  const auto all = sessions_of({.round_up = {{"n", 32}}, .executor = held.executor()});
  auto unknown = all.get({{"m", {1}}});
  auto too_large = all.get({{"n", {4294967295U}}});
  held.run();
  refused([&] { unknown.get(); }, "there is no input and no free dimension 'm'");
  refused([&] { too_large.get(); }, "too large to be rounded up");
  BOOST_TEST(all.size() == 0U);
  // A task that is dropped, and one that cannot be taken.
  auto dropped = all.get({{"n", {1}}});
  held.tasks.clear();
  BOOST_CHECK_EXCEPTION(dropped.get(), Error, [](const Error& error) {
    return error.kind() == ErrorKind::aborted &&
           error.message().find("dropped the import") != std::string::npos;
  });
  BOOST_TEST(all.size() == 0U);
  const auto full = sessions_of({.executor = [](const auto&) { throw std::bad_alloc(); }});
  BOOST_CHECK_EXCEPTION(full.get({{"n", {1}}}).get(), Error, [](const Error& error) {
    return error.kind() == ErrorKind::out_of_memory;
  });
  BOOST_TEST(full.size() == 0U);
}

BOOST_AUTO_TEST_CASE(replies_outlive_the_cache) {
  Held held;
  auto all = sessions_of({.executor = held.executor()});
  auto first = all.get({{"n", {1}}});
  all = Sessions();
  held.run();
  BOOST_TEST((first.get().inputs().front().second.shape == Shape{1, 2}));
}

BOOST_AUTO_TEST_CASE(builds_drop_others_when_they_end) {
  Held held;
  const auto all = sessions_of({.most = 1, .executor = held.executor()});
  all.at({{"n", {3}}});
  auto first = all.get({{"n", {1}}});
  auto second = all.get({{"n", {2}}});
  BOOST_TEST(all.size() == 3U);
  BOOST_TEST(all.get({{"n", {3}}}).ready());  // nothing has taken its place yet
  held.run();
  BOOST_TEST((first.get().inputs().front().second.shape == Shape{1, 2}));
  BOOST_TEST((second.get().inputs().front().second.shape == Shape{2, 2}));
  BOOST_TEST(all.size() == 1U);
}

BOOST_AUTO_TEST_CASE(bytes_are_bounded_too) {
  const auto model = load(growing().bytes());
  const auto memory = [&](std::uint32_t n) {
    return Sessions(context(), model).at({{"n", {n}}}).graph().memory();
  };
  const auto arena = [&](std::uint32_t n) { return memory(n).total() - memory(n).constants; };
  const auto weights = std::max(memory(64).constants, memory(65).constants);
  BOOST_TEST_REQUIRE(arena(64) > 0U);
  const auto two = weights + arena(64) + arena(65);
  const auto kept = [&](std::uint64_t most_bytes) {
    const Sessions all(context(), model, {.most_bytes = most_bytes});
    all.at({{"n", {64}}});
    all.at({{"n", {65}}});
    return all.size();
  };
  BOOST_TEST(kept(two) == 2U);
  BOOST_TEST(kept(two - 1) == 1U);
  BOOST_TEST(kept(std::max(memory(64).total(), memory(65).total())) == 1U);
  refused([&] { kept(1); }, "session 'g n=64': its graph takes ");
  // The least recently used one goes, whatever it takes.
  const Sessions all(context(), model, {.most_bytes = two});
  const auto first = all.at({{"n", {64}}});
  all.at({{"n", {65}}});
  all.at({{"n", {64}}});
  all.at({{"n", {63}}});
  BOOST_TEST(all.size() == 2U);
  BOOST_TEST((all.at({{"n", {64}}}) == first));
}

BOOST_AUTO_TEST_CASE(memory_for_a_build_comes_from_the_kept_ones) {
  constexpr std::uint32_t limit = 1 << 20;
  polychron::Runtime runtime;
  auto own = runtime.create_context({.memory_limit = limit}).get();
  const Sessions all(own, load(growing().bytes()));
  all.at({{"n", {64}}});
  const auto left = limit - static_cast<std::uint32_t>(own.stats().bytes) - 4096;
  auto rest = own.create_tensor({{polychron::DataType::uint8, {left}}, true, true, "rest"}).get();
  BOOST_CHECK_EXCEPTION(all.at({{"n", {65}}}), Error, [](const Error& error) {
    return error.root().kind() == ErrorKind::out_of_memory;
  });
  BOOST_TEST(all.size() == 0U);
  rest.destroy();
  BOOST_TEST(polychron::testing::comes([&] { return own.stats().bytes < limit / 2; }));
  all.at({{"n", {65}}});
  BOOST_TEST(all.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
