// A process that forks with a live runtime. The child has none of its threads: every call there is
// refused, nothing waits, and the runtime can be destroyed. The parent goes on.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/api/fixture.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)

BOOST_AUTO_TEST_SUITE(forks)

// The child's first allocation may wait for a lock of the sanitizer's that another thread of the
// parent's had as it forked (AddressSanitizer: StackDepot's).
BOOST_AUTO_TEST_CASE(are_not_for_sanitizers) {
  BOOST_TEST_MESSAGE("skipped: sanitizers do not follow the fork of a process with threads");
}

BOOST_AUTO_TEST_SUITE_END()

#else

using namespace polychron;
using namespace polychron::testing;

namespace {

/// Runs `child` in a forked process. Its exit code is 0, the number of the check that failed, or -1
/// if it hung and had to be ended.
int in_child(const std::function<int()>& child) {
  const auto process = fork();
  BOOST_REQUIRE(process >= 0);
  if (process == 0) {
    alarm(20);  // ends a child that hangs
    int result = 99;
    try {
      result = child();
    } catch (...) {
    }
    _exit(result);
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(process, &status, 0) == process);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// True if `call` throws invalid_state, or gives a reply that is rejected so.
template <class Call>
bool refused(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::invalid_state;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forks)

BOOST_AUTO_TEST_CASE(a_recording_stays_with_the_parent) {
  if (needs_the_processor("OpenCL drivers do not survive a fork")) return;
  Embedder embedder;
  embedder.runtime.start_trace();
  embedder.tensor({1.0F});
  BOOST_TEST(in_child([&] {
               if (!refused([&] { embedder.runtime.trace(); })) return 1;
               if (!refused([&] { embedder.runtime.start_trace(); })) return 2;
               embedder.runtime.stop_trace();
               Embedder own;
               own.runtime.start_trace();
               own.tensor({2.0F});
               return own.runtime.trace().empty() ? 3 : 0;
             }) == 0);
  BOOST_TEST(!embedder.runtime.trace().empty());
}

BOOST_AUTO_TEST_CASE(calls_in_the_child_are_refused) {
  if (needs_the_processor("OpenCL drivers do not survive a fork")) return;
  Rig rig;
  const auto g = rig.twice();
  const auto t = rig.tensor(), out = rig.tensor();
  const auto result = in_child([&] {
    if (!refused([&] { rig.write(t, 1); })) return 1;
    if (!refused([&] { rig.context.read_tensor(t).get(); })) return 2;
    if (!refused([&] { rig.dispatch(g, t, out); })) return 3;
    if (!refused([&] { rig.context.create_tensor(Rig::floats()).get(); })) return 4;
    if (!refused([&] { rig.context.export_tensor(t).get(); })) return 5;
    if (!refused([&] { t.error().get(); })) return 6;
    if (!refused([&] { rig.context.pending().get(); })) return 7;
    if (!refused([&] { rig.context.push_error_scope(ErrorFilter::internal); })) return 8;
    if (!refused([&] { rig.context.pop_error_scope().get(); })) return 9;
    if (!refused([&] { rig.build().get(); })) return 10;
    if (!refused([&] { rig.runtime.create_context().get(); })) return 11;
    return 0;
  });
  BOOST_TEST(result == 0);
  rig.write(t, 3);
  BOOST_TEST(rig.read(t) == 3.0F);
}

BOOST_AUTO_TEST_CASE(replies_that_were_on_their_way_do_not_hang_in_the_child) {
  if (needs_the_processor("OpenCL drivers do not survive a fork")) return;
  Rig rig;
  const auto t = rig.tensor();
  auto lease = rig.context.export_tensor(t).get();
  auto read = rig.context.read_tensor(t);
  const auto result = in_child([&] {
    if (!refused([&] { read.get(); })) return 1;
    return 0;
  });
  BOOST_TEST(result == 0);
  lease.return_now();
  BOOST_TEST(static_cast<bool>(reply(std::move(read))));
}

BOOST_AUTO_TEST_CASE(the_end_of_the_runtime_is_an_end_in_the_child) {
  if (needs_the_processor("OpenCL drivers do not survive a fork")) return;
  auto rig = std::make_unique<Rig>();
  auto t = std::make_unique<Tensor>(rig->tensor());
  auto lease = std::make_unique<TensorLease>(rig->context.export_tensor(*t).get());
  const auto result = in_child([&] {
    lease.reset();
    t.reset();
    rig.reset();
    return 0;
  });
  BOOST_TEST(result == 0);
  lease->return_now();
  BOOST_TEST(rig->runtime.shutdown().empty());
}

BOOST_AUTO_TEST_CASE(shutting_down_and_destroying_return_in_the_child) {
  if (needs_the_processor("OpenCL drivers do not survive a fork")) return;
  Rig rig;
  auto t = rig.tensor();
  auto g = rig.twice();
  const auto result = in_child([&] {
    try {
      t.destroy();
      g.destroy();
      rig.context.destroy();
      static_cast<void>(rig.runtime.shutdown());
    } catch (const Error&) {
    }
    return 0;
  });
  BOOST_TEST(result == 0);
}

BOOST_AUTO_TEST_CASE(a_child_may_have_a_runtime_of_its_own) {
  if (needs_the_processor("OpenCL drivers do not survive a fork")) return;
  Rig rig;
  const auto result = in_child([] {
    Rig own;
    const auto t = own.tensor();
    own.write(t, 4);
    return own.read(t) == 4.0F ? 0 : 1;
  });
  BOOST_TEST(result == 0);
}

BOOST_AUTO_TEST_SUITE_END()

#endif
