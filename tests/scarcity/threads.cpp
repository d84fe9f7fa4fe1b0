// Threads that cannot be started, as in a container with a limit: a context that needs them is
// rejected, and the rest lives on.
#include <boost/test/unit_test.hpp>

#include "tests/patience.hpp"
#include "tests/rig.hpp"
#include "tests/scarcity/scarce.hpp"

using namespace polychron;
using namespace polychron::testing;

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(a_context_without_its_threads_is_rejected_and_others_live) {
  Rig rig;
  const auto t = rig.tensor(), out = rig.tensor();
  const auto g = rig.twice();
  ContextOptions options;
  options.lanes = 4;
  options.threads = 3;
  bool happened = true;
  for (std::int64_t nth = 1; happened; ++nth) {
    Result<Context> context = Error(ErrorKind::internal, "nobody was asked");
    {
      ThreadsRunOut limit(nth);
      context = reply(rig.runtime.create_context(options));
      happened = limit.happened();
    }
    if (happened) {
      BOOST_REQUIRE_MESSAGE(!context, "thread " << nth << " was not had, and there is a context");
      BOOST_REQUIRE_MESSAGE((context.error().kind() == ErrorKind::out_of_memory),
                            "thread " << nth << ": " << context.error().what());
      BOOST_TEST(std::string(context.error().what()).find("thread") != std::string::npos);
    } else {
      BOOST_TEST(static_cast<bool>(context));
    }
    rig.write(t, static_cast<float>(nth));
    rig.dispatch(g, t, out);
    BOOST_TEST(rig.read(out) == static_cast<float>(2 * nth));
  }
  BOOST_TEST(rig.runtime.shutdown(std::chrono::seconds(20)).empty());
}

BOOST_AUTO_TEST_CASE(a_runtime_without_its_threads_throws_or_works) {
  bool happened = true;
  for (std::int64_t nth = 1; happened && nth < 50; ++nth) {
    ThreadsRunOut limit(nth);
    try {
      Runtime runtime;
      auto context = reply(runtime.create_context());
      if (!context) BOOST_TEST((context.error().kind() == ErrorKind::out_of_memory));
    } catch (const Error& error) {
      BOOST_TEST((error.kind() == ErrorKind::out_of_memory), error.what());
    }
    happened = limit.happened();
  }
}

BOOST_AUTO_TEST_SUITE_END()
