// OpenCL's drivers are loaded only by commands that use a GPU: they take memory, time and threads.
#include <sys/inotify.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iostream>

#include "tests/gpu/simulated.hpp"
#include "tests/tool/small_files.hpp"

namespace {

using test_tool::run_tool;

/// The folder in which OpenCL looks for its drivers. Tells if it did.
class Drivers {
 public:
  Drivers() {
    std::filesystem::create_directory(folder);
    BOOST_REQUIRE(events_ >= 0);
    BOOST_REQUIRE(inotify_add_watch(events_, folder.c_str(), IN_OPEN | IN_ACCESS) >= 0);
  }
  Drivers(const Drivers&) = delete;
  Drivers& operator=(const Drivers&) = delete;
  ~Drivers() { close(events_); }
  std::vector<std::string> environment() const {
    return {"OCL_ICD_VENDORS=" + folder, "OPENCL_VENDOR_PATH=" + folder};
  }
  bool looked_for() const {
    char event[4096];
    return read(events_, event, sizeof event) > 0;
  }

 private:
  const test_tool::TemporaryDirectory directory_;
  const std::string folder = directory_ / "vendors";
  const int events_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(drivers, test_tool::SmallFiles)

BOOST_AUTO_TEST_CASE(a_cpu_context_looks_for_none) {
  const Drivers drivers;
  const auto outcome = run_tool(run(), drivers.environment());
  BOOST_TEST(outcome.exit_code == 0, outcome.errors);
  BOOST_TEST(!drivers.looked_for());
  // Commands that use a GPU do, unless oneDNN was built without.
  const auto list = run_tool({"devices"}, drivers.environment());
  if (list.output.find("no GPU runtime") == std::string::npos)
    BOOST_TEST(drivers.looked_for());
  else
    BOOST_TEST_MESSAGE("not seen to look for any: this oneDNN has no GPU runtime");
}

BOOST_AUTO_TEST_CASE(a_missing_device_is_an_error_with_its_name) {
  const Drivers none;
  const auto list = run_tool({"devices"}, none.environment());
  BOOST_TEST(list.output.find("gpu  not available: ") != std::string::npos, list.output);
  auto on_gpu = run();
  on_gpu.insert(on_gpu.end(), {"--device", "gpu"});
  const auto outcome = run_tool(on_gpu, none.environment());
  BOOST_TEST(outcome.exit_code == 2);
  BOOST_TEST(outcome.errors.find("device 'gpu' is not available: ") != std::string::npos,
             outcome.errors);
}

BOOST_AUTO_TEST_CASE(a_gpu_is_listed_with_what_it_computes) {
  if (const auto reason = polychron::testing::offer_simulated_gpu(); !reason.empty()) {
    std::cout << "skipped: " << reason << "\n";
    return;
  }
  const auto list = run_tool({"devices"}).output;
  if (list.find("not available") != std::string::npos) {
    std::cout << "skipped: the simulated GPU needs pocl-opencl-icd\n";
    return;
  }
  for (const char* part : {"gpu  oneDNN", "simulated GPU, driver ", " MiB", "computes add, ",
                           " matmul,", " reduceSum,"})
    BOOST_TEST(list.find(part) != std::string::npos, part << " in " << list);
  BOOST_TEST(list.find("cumulativeSum") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
