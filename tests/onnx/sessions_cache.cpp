// The cache behind onnx::Sessions by itself: a broken invariant ends the request that finds it.
#include "onnx/sessions_cache.hpp"

#include "tests/onnx/session_fixture.hpp"

using namespace onnx_tests;
using polychron::Promise;
using polychron::detail::FutureAccess;
using polychron::onnx::detail::SessionsCache;

BOOST_AUTO_TEST_SUITE(sessions_cache)

BOOST_AUTO_TEST_CASE(a_lost_build_is_no_endless_wait) {
  const auto origin = FutureAccess::origin(context().lost());
  SessionsCache cache(4, 1U << 30);
  const auto entry = cache.want({{"n", {3}}}, Promise<Session>::make(origin));
  BOOST_REQUIRE(entry);
  entry->waiting.clear();
  BOOST_CHECK_EXCEPTION(
      cache.want({{"n", {3}}}, Promise<Session>::make(origin)), Error, [](const Error& error) {
        BOOST_TEST((error.kind() == ErrorKind::internal));
        return error.message() ==
               "a broken invariant, please report it: a session that is not there is built";
      });
  // Others go on.
  BOOST_TEST(cache.want({{"n", {4}}}, Promise<Session>::make(origin)) != nullptr);
}

BOOST_AUTO_TEST_SUITE_END()
