// The choice of a device: by name, by preference, and when it is not there any more.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/gpu/rig.hpp"

namespace polychron::testing {
namespace {

DeviceInfo gpu_of_devices() {
  for (auto& device : devices())
    if (device.name == "gpu") return device;
  throw std::logic_error("devices() has no gpu");
}

/// True if the plan says why the host computes the operator.
bool has_host_step(const Graph& graph, const std::string& name) {
  const auto plan = graph.plan();
  return std::ranges::any_of(
      plan, [&](const auto& line) { return line.starts_with("host (" + name + ": "); });
}

ContextOptions fast() { return {.power_preference = PowerPreference::high_performance}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(which_device)

BOOST_AUTO_TEST_CASE(high_performance_is_the_gpu) {
  if (!has_gpu()) return;
  Runtime runtime;
  BOOST_TEST(runtime.create_context(fast()).get().accelerated());
  BOOST_TEST(runtime.create_context({.device = "gpu"}).get().accelerated());
  BOOST_TEST(!runtime.create_context().get().accelerated());
  // A name is no preference.
  auto cpu = fast();
  cpu.device = "cpu";
  BOOST_TEST(!runtime.create_context(cpu).get().accelerated());
}

BOOST_AUTO_TEST_CASE(a_device_is_described) {
  if (!has_gpu()) return;
  const auto gpu = gpu_of_devices();
  BOOST_TEST(gpu.available);
  for (const char* part : {"oneDNN", "simulated GPU, driver ", " MiB"})
    BOOST_TEST(gpu.description.find(part) != std::string::npos, gpu.description);
  const auto computes = [&](const char* name) {
    return std::count(gpu.operators.begin(), gpu.operators.end(), name) == 1;
  };
  BOOST_TEST(computes("matmul"));
  BOOST_TEST(computes("reduceSum"));
  BOOST_TEST(!computes("cumulativeSum"));
  BOOST_TEST(!computes("lstm"));
}

BOOST_AUTO_TEST_CASE(a_device_that_disappears_is_an_error_with_its_name) {
  if (!has_gpu()) return;
  Runtime runtime;
  BOOST_TEST(gpu_of_devices().available);
  const Fault gone(gpu_faults().present, 0);
  const auto error = error_of([&] { runtime.create_context({.device = "gpu"}).get(); });
  BOOST_TEST((error.root().kind() == ErrorKind::not_supported));
  const std::string text = error.what();
  BOOST_TEST(text.find("device 'gpu' is not available: oneDNN found no GPU") != std::string::npos,
             text);
  // A preference is not a demand.
  BOOST_TEST(!runtime.create_context(fast()).get().accelerated());
  const auto now = gpu_of_devices();
  BOOST_TEST(!now.available);
  BOOST_TEST(now.operators.empty());
}

// In a forked child the driver's threads are missing: waiting for them would never end.
BOOST_AUTO_TEST_CASE(a_forked_child_is_refused) {
  if (!has_gpu()) return;
  const Rig parent;
  const pid_t child = fork();
  if (child == 0) {
    Runtime runtime;
    const auto refused = runtime.create_context({.device = "gpu"}).take();
    const bool right =
        !refused && std::string(refused.error().what()).find("a fork") != std::string::npos;
    _exit(right && !runtime.create_context(fast()).get().accelerated() ? 0 : 1);
  }
  int status = -1;
  BOOST_TEST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_device_that_does_not_open_is_an_error_with_its_reason) {
  if (!has_gpu()) return;
  Runtime runtime;
  const Fault broken(gpu_faults().calls_left, 0);
  const auto error = error_of([&] { runtime.create_context({.device = "gpu"}).get(); });
  BOOST_TEST((error.root().kind() == ErrorKind::not_supported), error.what());
  BOOST_TEST(std::string(error.what()).find("device 'gpu' is not available: ") != std::string::npos,
             error.what());
}

BOOST_AUTO_TEST_CASE(a_driver_without_an_extension_leaves_operators_to_the_host) {
  if (!has_gpu()) return;
  const Fault plain(gpu_faults().sub_groups, 0);
  Rig rig;
  GraphBuilder builder(rig.context);
  const auto x = builder.input("x", four);
  const auto graph = builder.build({{"y", builder.relu(builder.softmax(x, 0))}}).get();
  const auto in = rig.tensor("in"), out = rig.tensor("out");
  rig.context.write_tensor(in, std::vector<float>(4, 1));
  rig.context.dispatch(graph, {{"x", in}}, {{"y", out}});
  BOOST_TEST(rig.floats(out) == std::vector<float>(4, 0.25F));
  BOOST_TEST(has_host_step(graph, "softmax"));
}

BOOST_AUTO_TEST_CASE(a_driver_that_does_not_compile_leaves_operators_to_the_host) {
  if (!has_gpu()) return;
  const Fault refuses(gpu_faults().compiles, 0);
  Rig rig;
  GraphBuilder builder(rig.context);
  const OperandDescriptor odd{DataType::float32, {3, 1, 7}};  // a kernel that no other test has
  const auto graph = builder.build({{"y", builder.tanh(builder.input("x", odd))}}).get();
  const auto x = rig.context.create_tensor({odd, true, true, "x"}).get();
  const auto y = rig.context.create_tensor({odd, true, true, "y"}).get();
  rig.context.dispatch(graph, {{"x", x}}, {{"y", y}});
  BOOST_TEST(rig.floats(y) == std::vector<float>(21));
  BOOST_TEST(has_host_step(graph, "tanh"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
