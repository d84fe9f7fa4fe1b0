// The number of cores that the process may use.
#include <sched.h>

#include <thread>

#include "base/usable_cores.hpp"
#include "tests/api/file_system_root.hpp"
#include "tests/api/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// A process of a system whose groups say nothing.
struct Groups : Root {
  explicit Groups(const std::string& groups) { write("/proc/self/cgroup", groups); }
  void say(const std::string& file, const std::string& content) const {
    write("/sys/fs/cgroup/" + file, content + "\n");
  }
  int usable() const { return count_usable_cores(path()); }
};

/// What `f` gives on a thread with the first `cores` of this thread's affinity; nothing if there
/// are not as many.
template <class F>
std::optional<int> with_affinity(int cores, F f) {
  std::optional<int> result;
  std::thread([&] {
    cpu_set_t all{}, some{};
    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < cores) return;
    for (std::size_t core = 0; CPU_COUNT(&some) < cores; ++core)
      if (CPU_ISSET(core, &all)) CPU_SET(core, &some);
    if (sched_setaffinity(0, sizeof some, &some) == 0) result = f();
  }).join();
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cores)

BOOST_AUTO_TEST_CASE(without_groups_the_affinity_tells) {
  const Root root;
  const auto here = count_usable_cores(root.path());
  BOOST_TEST(here >= 1);
  BOOST_TEST(here <= static_cast<int>(std::thread::hardware_concurrency()));
  for (const int cores : {1, 2})
    if (const auto seen = with_affinity(cores, [&] { return count_usable_cores(root.path()); }))
      BOOST_TEST(*seen == cores);
  BOOST_TEST(usable_cores() == count_usable_cores());
  BOOST_TEST(usable_cores() <= here);
}

BOOST_AUTO_TEST_CASE(a_quota_of_version_2_is_rounded_up) {
  const Groups root("0::/a/b\n");
  const auto all = root.usable();
  root.say("a/b/cpu.max", "max 100000");
  BOOST_TEST(root.usable() == all);
  for (const auto& [quota, expected] :
       std::vector<std::pair<std::string, int>>{{"100000 100000", 1},
                                                {"1000 100000", 1},
                                                {"100001 100000", 2},
                                                {"150000 100000", 2},
                                                {"200000 100000", 2},
                                                {"20000 10000", 2},
                                                {"1600000 100000", 16}}) {
    root.say("a/b/cpu.max", quota);
    BOOST_TEST(root.usable() == std::min(all, expected), quota);
  }
}

BOOST_AUTO_TEST_CASE(a_group_above_limits_as_well) {
  const Groups root("0::/a/b\n");
  root.say("a/b/cpu.max", "6400000 100000");
  const auto all = root.usable();
  root.say("a/cpu.max", "100000 100000");
  BOOST_TEST(root.usable() == 1);
  root.say("a/cpu.max", "max 100000");
  BOOST_TEST(root.usable() == all);
  root.say("cpu.max", "50000 100000");  // in a container
  BOOST_TEST(root.usable() == 1);
}

BOOST_AUTO_TEST_CASE(a_quota_of_version_1_is_rounded_up) {
  const Groups root("5:cpuset:/other\n4:cpu,cpuacct:/docker/1f\n0::/\n");
  const auto all = root.usable();
  root.say("cpu/docker/1f/cpu.cfs_quota_us", "-1");
  root.say("cpu/docker/1f/cpu.cfs_period_us", "100000");
  BOOST_TEST(root.usable() == all);
  root.say("cpu/docker/1f/cpu.cfs_quota_us", "110000");
  BOOST_TEST(root.usable() == std::min(all, 2));
  root.say("cpu/docker/1f/cpu.cfs_quota_us", "90000");
  BOOST_TEST(root.usable() == 1);
  // Without a link by the controller's own name, and with the host's path.
  root.write("/proc/self/cgroup", "4:cpu,cpuacct:/nowhere\n");
  BOOST_TEST(root.usable() == all);
  root.say("cpu,cpuacct/cpu.cfs_quota_us", "90000");
  root.say("cpu,cpuacct/cpu.cfs_period_us", "100000");
  BOOST_TEST(root.usable() == 1);
}

BOOST_AUTO_TEST_CASE(strange_quotas_are_passed_over) {
  const Groups root("0::/a\n1:cpu:/a\n");
  const auto all = root.usable();
  for (const auto* quota : {"", "max", "100000", "0 100000", "100000 0", "-100000 100000",
                            "100000 -100000", "one two", "99999999999999999999 100000"}) {
    root.say("a/cpu.max", quota);
    BOOST_TEST(root.usable() == all, "'" << quota << "'");
  }
  root.say("cpu/a/cpu.cfs_quota_us", "1000");  // of no period
  BOOST_TEST(root.usable() == all);
  root.say("cpu/a/cpu.cfs_period_us", "0");
  BOOST_TEST(root.usable() == all);
  for (const auto* content : {"", "\n", ":", "1:cpu", "1:cpu:", "x:y:z:w\n", "0::///\n"}) {
    root.write("/proc/self/cgroup", content);
    BOOST_TEST(root.usable() == all, "'" << content << "'");
  }
}

BOOST_AUTO_TEST_SUITE_END()
