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
  BOOST_TEST(builds() - before == 3U);
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

BOOST_AUTO_TEST_CASE(what_fails_is_tried_again) {
  const auto all = sessions_of();
  for (int i = 0; i < 2; ++i) {
    refused([&] { all.at({{"m", {1}}}); }, "there is no input and no free dimension 'm'");
    BOOST_TEST(all.size() == 0U);
  }
  all.prepare({{"m", {1}}});
  refused([&] { all.at({{"m", {1}}}); }, "'m'");
  refused([&] { sessions_of({.most = 0}); }, "most is 0");
  refused([&] { sessions_of({.round_up = {{"width", 32}}}); }, "no free dimension 'width'");
  refused([&] { sessions_of({.round_up = {{"n", 0}}}); }, "'n' is 0");
  refused([&] { Sessions().size(); }, "refers to nothing");
}

BOOST_AUTO_TEST_SUITE_END()
