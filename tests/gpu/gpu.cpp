// Contexts on a GPU, as an embedder uses them, on the simulated one.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <iostream>

#include "tests/gpu/rig.hpp"

namespace polychron::testing {
namespace {

bool is_loaded(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(library) != std::string::npos) return true;
  return false;
}

std::span<float> floats_of(TensorLease& lease) {
  return {reinterpret_cast<float*>(lease.bytes().data()), lease.bytes().size() / sizeof(float)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gpu)

// First: the process has not looked for devices yet.
BOOST_AUTO_TEST_CASE(a_cpu_context_loads_no_driver) {
  if (const auto reason = offer_simulated_gpu(); !reason.empty()) {
    std::cout << "skipped: " << reason << "\n";
    return;
  }
  Runtime runtime;
  for (const ContextOptions& options :
       {ContextOptions{}, ContextOptions{.device = "cpu"},
        ContextOptions{.power_preference = PowerPreference::low_power},
        ContextOptions{.power_preference = PowerPreference::high_performance,
        .accelerated = false}}) {
    auto context = runtime.create_context(options).get();
    BOOST_TEST(!context.accelerated());
    GraphBuilder builder(context);
    const auto x = builder.input("x", four);
    static_cast<void>(builder.build({{"y", builder.relu(x)}}).get());
  }
  BOOST_TEST(!is_loaded("libsimulated_gpu"));
  BOOST_TEST(!is_loaded("libpocl"));
}

BOOST_AUTO_TEST_CASE(a_graph_runs_on_the_device) {
  if (!has_gpu()) return;
  Rig rig;
  const auto graph = rig.graph();
  const auto x = rig.tensor("x"), y = rig.tensor("y");
  const auto before = gpu_faults().kernels.load();
  for (const float first : {-5.0F, 7.0F}) {
    rig.context.write_tensor(x, Buffer::copy_of(std::vector<float>{first, -3, 0, 2}));
    rig.context.dispatch(graph, {{"x", x}}, {{"y", y}});
    const std::vector<float> expected{std::max(first + 1, 0.0F), 0, 1, 3};
    BOOST_TEST(rig.floats(y) == expected, boost::test_tools::per_element());
  }
  BOOST_TEST(gpu_faults().kernels.load() == before + 4);
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer::copy_of(std::vector<float>{1, 2, 3, 4}));
  outputs.emplace_back("y", Buffer(16));
  const auto result = rig.context.compute(graph, std::move(inputs), std::move(outputs)).get();
  const auto computed = buffer_of(result.outputs, "y").to_vector<float>();
  const std::vector<float> next{2, 3, 4, 5};
  BOOST_TEST(computed == next, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(transfers_are_steps) {
  if (!has_gpu()) return;
  Rig rig;
  GraphBuilder builder(rig.context);
  const auto x = builder.input("x", four);
  const auto sums = builder.cumulative_sum(builder.relu(x), {.axis = 0});
  const auto graph = builder.build({{"y", builder.relu(sums)}}).get();
  std::string steps;
  for (const auto& line : graph.plan()) steps += line.substr(0, line.find_first_of(" :")) + " ";
  BOOST_TEST(steps == "gpu download host upload gpu ");
}

BOOST_AUTO_TEST_CASE(weights_are_uploaded_once) {
  if (!has_gpu()) return;
  Rig rig;
  const OperandDescriptor large{DataType::float32, {1 << 18}};
  auto weights =
      rig.context.create_constant_tensor(large, Buffer::copy_of(std::vector<float>(1 << 18, 2)))
          .get();
  const auto build = [&] {
    GraphBuilder builder(rig.context);
    return builder.build({{"y", builder.add(builder.input("x", large), builder.constant(weights))}})
        .get();
  };
  const auto before = gpu_faults().bytes_left.load();
  const auto one = build();
  const auto after_one = gpu_faults().bytes_left.load();
  const auto other = build();
  BOOST_TEST(before - after_one >= 1 << 20);
  BOOST_TEST(before - after_one < 1.5 * (1 << 20));  // the library has some bytes of its own
  BOOST_TEST(gpu_faults().bytes_left.load() == after_one);
  BOOST_TEST(one.memory().constants >= 1U << 20);
}

BOOST_AUTO_TEST_CASE(without_device_memory_a_dispatch_errors_its_outputs) {
  if (!has_gpu()) return;
  Rig rig;
  GraphBuilder builder(rig.context);
  const OperandDescriptor large{DataType::float32, {1 << 20}};
  const auto x = builder.input("x", large);
  const auto graph = builder.build({{"y", builder.relu(builder.exp(x))}}).get();
  auto in = rig.context.create_tensor({large, true, true, "in"}).get();
  auto out = rig.context.create_tensor({large, true, true, "out"}).get();
  {
    const Fault full(gpu_faults().bytes_left, 1000);
    rig.context.dispatch(graph, {{"x", in}}, {{"y", out}}, {.label = "no room"});
    const auto error = error_of([&] { rig.context.read_tensor(out).get(); });
    BOOST_TEST((error.root().kind() == ErrorKind::out_of_memory), error.what());
    BOOST_TEST(std::string(error.what()).find("no room") != std::string::npos, error.what());
    const auto refused = error_of([&] {
      rig.context.create_tensor({large, true, true, "t"}).get();
    });
    BOOST_TEST((refused.root().kind() == ErrorKind::out_of_memory), refused.what());
  }
  rig.context.dispatch(graph, {{"x", in}}, {{"y", out}});
  BOOST_TEST(rig.floats(out).front() == 1);
}

BOOST_AUTO_TEST_CASE(a_device_that_fails_loses_its_context) {
  if (!has_gpu()) return;
  Rig rig;
  const auto graph = rig.graph();
  const auto x = rig.tensor("x"), y = rig.tensor("y");
  {
    const Fault gone(gpu_faults().kernels_left, 0);
    rig.context.dispatch(graph, {{"x", x}}, {{"y", y}});
    const auto lost = rig.context.lost().get();
    BOOST_TEST((lost.reason == LostReason::device_failed));
    BOOST_TEST(lost.message.find("the GPU fails") != std::string::npos, lost.message);
  }
  const auto error = error_of([&] { rig.context.read_tensor(y).get(); });
  BOOST_TEST((error.root().kind() == ErrorKind::context_lost), error.what());
  Rig other;  // the runtime goes on
  BOOST_TEST(other.floats(other.tensor()) == std::vector<float>(4));
}

// The library's kernels take six dimensions, and do not say so.
BOOST_AUTO_TEST_CASE(values_of_any_rank_are_right) {
  if (!has_gpu()) return;
  Rig rig;
  for (std::size_t rank = 5; rank <= 8; ++rank) {
    const OperandDescriptor deep{DataType::float32, Shape(rank, 2)};
    std::vector<float> values(std::size_t{1} << rank), doubled;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i) - 7;
    for (const float value : values) doubled.push_back(std::max(value, 0.0F) * 2);
    GraphBuilder builder(rig.context);
    const auto positive = builder.relu(builder.input("x", deep));
    const auto graph = builder
                           .build({{"y", builder.add(positive, positive)},
                                   {"z", builder.softmax(positive, std::uint32_t(rank - 1))}})
                           .get();
    const auto x = rig.context.create_tensor({deep, true, true, "x"}).get();
    const auto y = rig.context.create_tensor({deep, true, true, "y"}).get();
    const auto z = rig.context.create_tensor({deep, true, true, "z"}).get();
    rig.context.write_tensor(x, values);
    rig.context.dispatch(graph, {{"x", x}}, {{"y", y}, {"z", z}});
    BOOST_TEST(rig.floats(y) == doubled, "rank " << rank);
    const auto parts = rig.floats(z);
    for (std::size_t i = 0; i < parts.size(); i += 2)
      BOOST_TEST(std::abs(parts[i] + parts[i + 1] - 1) < 1e-5F, "rank " << rank);
  }
}

// A room that several values share has the size of the largest.
BOOST_AUTO_TEST_CASE(a_reshaped_output_is_copied_from_a_larger_room) {
  if (!has_gpu()) return;
  Rig rig;
  GraphBuilder builder(rig.context);
  const auto x = builder.input("x", {DataType::float32, {4, 64}});
  const auto wide = builder.relu(builder.relu(x));                // rooms of 1 KiB
  const auto narrow = builder.reduce_sum(wide, {.axes = {{1}}});  // 16 bytes
  const auto again = builder.relu(narrow);
  const auto graph = builder.build({{"y", builder.reshape(again, {2, 2})}}).get();
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer::copy_of(std::vector<float>(256, 1)));
  outputs.emplace_back("y", Buffer(16));
  const auto result = rig.context.compute(graph, std::move(inputs), std::move(outputs)).get();
  BOOST_TEST(result.status.has_value());
  BOOST_TEST(buffer_of(result.outputs, "y").to_vector<float>() == std::vector<float>(4, 64));
}

BOOST_AUTO_TEST_CASE(destroyed_tensors_give_their_memory_back) {
  if (!has_gpu()) return;
  Rig rig;
  const OperandDescriptor large{DataType::float32, {1 << 16}};
  GraphBuilder builder(rig.context);
  const auto graph = builder.build({{"y", builder.relu(builder.input("x", large))}}).get();
  const auto before = gpu_faults().bytes_left.load();
  for (int round = 0; round < 4; ++round) {  // a later tensor may be where an earlier one was
    auto in = rig.context.create_tensor({large, true, true, "in"}).get();
    auto out = rig.context.create_tensor({large, true, true, "out"}).get();
    rig.context.write_tensor(in, Buffer::copy_of(std::vector<float>(1 << 16, float(round))));
    rig.context.dispatch(graph, {{"x", in}}, {{"y", out}});
    BOOST_TEST(rig.floats(out).back() == float(round));
    in.destroy();
    out.destroy();
    static_cast<void>(rig.floats(rig.tensor()));  // after the releases, on the only lane
    BOOST_TEST(before - gpu_faults().bytes_left.load() < 1000);  // of 256 KiB each
  }
  BOOST_TEST(rig.context.stats().bytes < std::uint64_t{1} << 16);
}

BOOST_AUTO_TEST_CASE(device_memory_counts) {
  if (!has_gpu()) return;
  Runtime runtime;
  auto context = runtime.create_context({.device = "gpu", .memory_limit = 4096}).get();
  const OperandDescriptor half{DataType::float32, {512}};
  const auto one = context.create_tensor({half, true, true, "one"}).get();
  const auto other = context.create_tensor({half, true, true, "other"}).get();
  BOOST_TEST(context.stats().bytes == 4096U);
  const auto error = error_of([&] { context.create_tensor({four, true, true, "more"}).get(); });
  BOOST_TEST((error.root().kind() == ErrorKind::out_of_memory), error.what());
}

BOOST_AUTO_TEST_CASE(a_lease_shows_the_devices_bytes_and_changes_them) {
  if (!has_gpu()) return;
  Rig rig;
  const auto graph = rig.graph();
  const auto x = rig.tensor("x"), y = rig.tensor("y");
  for (const float first : {1.0F, 5.0F}) {
    auto lease = rig.context.export_tensor(x).get();
    for (float& value : floats_of(lease)) value = first;
    lease.return_now();
    rig.context.dispatch(graph, {{"x", x}}, {{"y", y}});
    lease = rig.context.export_tensor(y).get();
    BOOST_TEST(floats_of(lease)[3] == first + 1);
    floats_of(lease)[0] = 77;
    lease.return_now();
    BOOST_TEST(rig.floats(y).front() == 77);
    BOOST_TEST(rig.floats(y).back() == first + 1);
    BOOST_TEST(rig.floats(x) == std::vector<float>(4, first));
  }
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_is_named) {
  Runtime runtime;
  const auto error = error_of([&] { runtime.create_context({.device = "npu"}).get(); });
  BOOST_TEST((error.root().kind() == ErrorKind::not_supported));
  BOOST_TEST(std::string(error.what()).find("there is no device 'npu'; known are cpu, gpu") !=
                 std::string::npos,
             error.what());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
