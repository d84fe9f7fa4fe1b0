// The GPU backend under attack: calls that fail one by one, ends in the middle, many at once.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <optional>
#include <thread>

#include "tests/gpu/rig.hpp"

namespace polychron::testing {
namespace {

/// y = relu(x + w) on the device, and running sums of it on the host.
Graph mixed_graph(Context& context) {
  GraphBuilder builder(context);
  const auto x = builder.input("x", four);
  const auto w = builder.constant(four, std::vector<float>{1, 1, 1, 1});
  const auto y = builder.relu(builder.add(x, w));
  return builder.build({{"y", y}, {"sums", builder.cumulative_sum(y, {.axis = 0})}}).get();
}

const std::vector<float> sums{2, 4, 6, 8};

/// Dispatches the graph on ones. Returns the running sums.
std::vector<float> run(Context& context, const Graph& graph) {
  const auto tensor = [&](const char* label) {
    return context.create_tensor({four, true, true, label}).get();
  };
  const auto x = tensor("x"), y = tensor("y"), z = tensor("z");
  context.write_tensor(x, std::vector<float>(4, 1));
  context.dispatch(graph, {{"x", x}}, {{"y", y}, {"sums", z}});
  return context.read_tensor(z).get().to_vector<float>();
}

/// All of it in a runtime of its own. Returns the error, if there was one.
std::optional<Error> whole_run() {
  try {
    Runtime runtime;
    auto context = runtime.create_context({.label = "attacked", .device = "gpu"}).get();
    const auto graph = mixed_graph(context);
    const auto result = run(context, graph);
    BOOST_TEST(result == sums, boost::test_tools::per_element());
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

/// Fails calls of the driver from the n-th on, for every n; `failing` of them.
template <class Check>
void fail_each_call(std::int64_t failing, std::int64_t code, Check check) {
  BOOST_REQUIRE(!whole_run());
  const auto before = gpu_faults().bytes_left.load();
  for (std::int64_t n = 0;; ++n) {
    BOOST_TEST_CONTEXT("call " << n) {
      std::optional<Error> error;
      bool happened = false;
      {
        const Fault with(gpu_faults().error, code), most(gpu_faults().failing, failing);
        const Fault after(gpu_faults().calls_left, n);
        error = whole_run();
        happened = gpu_faults().calls_left < 0;
      }
      if (error) check(error->root());
      // The library may keep a few bytes of a primitive that failed; a tensor here has 16. Commands
      // that still run keep their memory for a while.
      const auto kept = [&] { return before - gpu_faults().bytes_left; };
      for (int i = 0; i < 1'000'000 && kept() > 8 * (n + 1); ++i) std::this_thread::yield();
      BOOST_TEST(kept() <= 8 * (n + 1));
      if (!happened) break;
      BOOST_REQUIRE(n < 1000);
    }
  }
  BOOST_TEST(!whole_run());
}

constexpr std::int64_t not_available = -2, out_of_resources = -5, out_of_host_memory = -6;
constexpr auto for_ever = std::int64_t{1} << 40;

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile)

BOOST_AUTO_TEST_CASE(a_device_may_fail_at_every_call) {
  if (!has_gpu()) return;
  for (const auto failing : {for_ever, std::int64_t{1}})
    fail_each_call(failing, not_available, [](const Error& error) {
      BOOST_TEST(
          (error.kind() == ErrorKind::context_lost || error.kind() == ErrorKind::not_supported),
          error.what());
    });
}

BOOST_AUTO_TEST_CASE(memory_may_end_at_every_call) {
  if (!has_gpu()) return;
  for (const auto code : {out_of_resources, out_of_host_memory})
    fail_each_call(1, code, [](const Error& error) {
      BOOST_TEST(
          (error.kind() == ErrorKind::out_of_memory || error.kind() == ErrorKind::not_supported),
          error.what());
    });
}

// Whatever call fails for want of memory, the context goes on.
BOOST_AUTO_TEST_CASE(a_context_survives_the_end_of_memory) {
  if (!has_gpu()) return;
  Rig rig;
  const auto graph = mixed_graph(rig.context);
  BOOST_TEST(run(rig.context, graph) == sums);
  for (std::int64_t n = 0, happened = 1; happened != 0; ++n) {
    BOOST_TEST_CONTEXT("call " << n) {
      {
        const Fault with(gpu_faults().error, out_of_resources), once(gpu_faults().failing, 1);
        const Fault after(gpu_faults().calls_left, n);
        try {
          BOOST_TEST(run(rig.context, graph) == sums);
        } catch (const Error& error) {
          BOOST_TEST((error.root().kind() == ErrorKind::out_of_memory), error.what());
        }
        happened = gpu_faults().calls_left < 0 ? 1 : 0;
      }
      BOOST_TEST(run(rig.context, graph) == sums);
      BOOST_REQUIRE(n < 1000);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_compute_gives_its_buffers_back_whatever_fails) {
  if (!has_gpu()) return;
  for (std::int64_t n = 0, happened = 1; happened != 0; ++n) {
    BOOST_TEST_CONTEXT("call " << n) {
      Rig rig;
      const auto graph = rig.graph();
      NamedBuffers inputs, outputs;
      inputs.emplace_back("x", Buffer::copy_of(std::vector<float>{1, 2, 3, 4}));
      outputs.emplace_back("y", Buffer(16));
      const auto *const x = inputs[0].second.data(), *const y = outputs[0].second.data();
      const Fault after(gpu_faults().calls_left, n);
      const auto result = rig.context.compute(graph, std::move(inputs), std::move(outputs)).get();
      happened = gpu_faults().calls_left < 0 ? 1 : 0;
      BOOST_TEST(buffer_of(result.inputs, "x").data() == x);
      BOOST_TEST(buffer_of(result.outputs, "y").data() == y);
      BOOST_TEST(buffer_of(result.inputs, "x").to_vector<float>() ==
                 (std::vector<float>{1, 2, 3, 4}));
      if (!result.status)
        BOOST_TEST((result.status.error().root().kind() == ErrorKind::context_lost),
                   result.status.error().what());
      else
        BOOST_TEST(buffer_of(result.outputs, "y").to_vector<float>() ==
                   (std::vector<float>{2, 3, 4, 5}));
      BOOST_REQUIRE(n < 1000);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_context_ends_while_the_device_works) {
  if (!has_gpu()) return;
  for (int round = 0; round < 20; ++round) {
    Rig rig;
    const auto graph = mixed_graph(rig.context);
    auto x = rig.tensor("x"), y = rig.tensor("y"), z = rig.tensor("z");
    for (int i = 0; i < 10; ++i) rig.context.dispatch(graph, {{"x", x}}, {{"y", y}, {"sums", z}});
    auto pending = rig.context.read_tensor(z);
    if (round % 3 == 0) y.destroy();
    if (round % 3 == 1) rig.context.destroy();
    const auto read = pending.take();
    if (!read)
      BOOST_TEST((read.error().root().kind() == ErrorKind::invalid_state), read.error().what());
    else
      BOOST_TEST(read->to_vector<float>() == (std::vector<float>{1, 2, 3, 4}));
  }
}

BOOST_AUTO_TEST_CASE(contexts_share_a_device) {
  if (!has_gpu()) return;
  Runtime runtime;
  const ContextOptions options{.device = "gpu", .lanes = 2};
  std::vector<Context> contexts{runtime.create_context(options).get(),
                                runtime.create_context(options).get()};
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      try {
        auto& context = contexts[i % 2];
        const auto graph = mixed_graph(context);
        for (int round = 0; round < 25; ++round) wrong += run(context, graph) != sums;
      } catch (const Error&) {
        ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
  // One ends, the other goes on.
  contexts[0].destroy();
  const auto graph = mixed_graph(contexts[1]);
  BOOST_TEST(run(contexts[1], graph) == sums);
}

// Its bytes are on the host until the first lane needs them on the device.
BOOST_AUTO_TEST_CASE(lanes_read_a_tensor_that_was_lent) {
  if (!has_gpu()) return;
  Runtime runtime;
  auto context = runtime.create_context({.device = "gpu", .lanes = 2}).get();
  const auto graph = mixed_graph(context);
  const auto tensor = [&] { return context.create_tensor({four, true, true, {}}).get(); };
  const auto x = tensor();
  std::vector<Tensor> ys, zs;
  for (int i = 0; i < 4; ++i) ys.push_back(tensor()), zs.push_back(tensor());
  for (int round = 0; round < 20; ++round) {
    auto lease = context.export_tensor(x).get();
    const std::vector<float> ones(4, 1);
    std::memcpy(lease.bytes().data(), ones.data(), lease.bytes().size());
    lease.return_now();
    for (std::size_t i = 0; i < 4; ++i)
      context.dispatch(graph, {{"x", x}}, {{"y", ys[i]}, {"sums", zs[i]}});
    BOOST_TEST(context.read_tensor(x).get().to_vector<float>() == ones);
    for (const auto& z : zs) BOOST_TEST(context.read_tensor(z).get().to_vector<float>() == sums);
    context.write_tensor(x, std::vector<float>(4, 9));  // the next lease replaces it
  }
}

BOOST_AUTO_TEST_CASE(scalars_are_computed) {
  if (!has_gpu()) return;
  Rig rig;
  const OperandDescriptor scalar{DataType::float32, {}};
  GraphBuilder builder(rig.context);
  const auto x = builder.input("x", scalar);
  const auto y = builder.relu(builder.add(builder.mul(x, x), x));
  const auto wide = builder.add(builder.input("v", four), y);
  const auto graph =
      builder
          .build({{"y", y}, {"sum", builder.reduce_sum(wide)}, {"flat", builder.reshape(y, {1})}})
          .get();
  NamedBuffers inputs, outputs;
  inputs.emplace_back("x", Buffer::copy_of(std::vector<float>{3}));
  inputs.emplace_back("v", Buffer::copy_of(std::vector<float>{1, 2, 3, 4}));
  for (const char* name : {"y", "sum", "flat"}) outputs.emplace_back(name, Buffer(4));
  const auto result = rig.context.compute(graph, std::move(inputs), std::move(outputs)).get();
  BOOST_TEST(result.status.has_value());
  const auto number = [&](const char* name) {
    return buffer_of(result.outputs, name).to_vector<float>().at(0);
  };
  BOOST_TEST(number("y") == 12);
  BOOST_TEST(number("flat") == 12);
  BOOST_TEST(number("sum") == 58);
}

BOOST_AUTO_TEST_CASE(what_is_too_large_is_refused) {
  if (!has_gpu()) return;
  Rig rig;
  const Fault small(gpu_faults().bytes_left, 1 << 20);
  const OperandDescriptor row{DataType::float32, {1, 1 << 14}},
      column{DataType::float32, {1 << 14, 1}};
  const OperandDescriptor huge{DataType::float32, {1 << 14, 1 << 14}};
  const auto refused = error_of([&] {
    rig.context.create_tensor({huge, true, true, "huge"}).get();
  });
  BOOST_TEST((refused.root().kind() == ErrorKind::out_of_memory), refused.what());
  GraphBuilder builder(rig.context);
  const auto product = builder.matmul(builder.input("c", column), builder.input("r", row));
  const auto sum = builder.reduce_sum(builder.relu(product));  // a gigabyte between
  const auto graph = builder.build({{"y", sum}}).get();
  const auto c = rig.context.create_tensor({column, true, true, "c"}).get();
  const auto r = rig.context.create_tensor({row, true, true, "r"}).get();
  const auto y = rig.context.create_tensor({{DataType::float32, {}}, true, true, "y"}).get();
  rig.context.dispatch(graph, {{"c", c}, {"r", r}}, {{"y", y}});
  const auto error = error_of([&] { rig.context.read_tensor(y).get(); });
  BOOST_TEST((error.root().kind() == ErrorKind::out_of_memory), error.what());
  BOOST_TEST(run(rig.context, mixed_graph(rig.context)) == sums);
}

BOOST_AUTO_TEST_CASE(graphs_share_constants_and_end_in_any_order) {
  if (!has_gpu()) return;
  Rig rig;
  const OperandDescriptor large{DataType::float32, {1 << 16}};
  const auto build = [&](const Tensor& weights) {
    GraphBuilder builder(rig.context);
    return builder.build({{"y", builder.add(builder.input("x", large), builder.constant(weights))}})
        .get();
  };
  const auto in = rig.context.create_tensor({large, true, true, "in"}).get();
  const auto out = rig.context.create_tensor({large, true, true, "out"}).get();
  const auto settle = [&] { static_cast<void>(rig.floats(rig.tensor())); };
  settle();
  const auto before = gpu_faults().bytes_left.load();
  for (int round = 0; round < 3; ++round) {
    auto weights = rig.context
                       .create_constant_tensor(
                           large, Buffer::copy_of(std::vector<float>(1 << 16, float(round + 1))))
                       .get();
    auto one = build(weights), other = build(weights);
    weights.destroy();
    (round % 2 == 0 ? one : other).destroy();
    rig.context.dispatch(round % 2 == 0 ? other : one, {{"x", in}}, {{"y", out}});
    BOOST_TEST(rig.floats(out).back() == float(round + 1));
    (round % 2 == 0 ? other : one).destroy();
    settle();
  }
  // Of 256 KiB a round at most the last is still on its way.
  BOOST_TEST(before - gpu_faults().bytes_left.load() < 300'000);
}

BOOST_AUTO_TEST_CASE(a_lost_context_refuses_everything) {
  if (!has_gpu()) return;
  Rig rig;
  const auto graph = rig.graph();
  auto x = rig.tensor("x"), y = rig.tensor("y");
  {
    const Fault gone(gpu_faults().calls_left, 0);
    rig.context.dispatch(graph, {{"x", x}}, {{"y", y}});
    BOOST_TEST((rig.context.lost().get().reason == LostReason::device_failed));
  }
  const auto refused = [](auto call) {
    const auto error = error_of(call);
    BOOST_TEST((error.root().kind() == ErrorKind::context_lost), error.what());
  };
  refused([&] { rig.tensor(); });
  refused([&] { rig.floats(y); });
  refused([&] { rig.context.write_tensor(x, std::vector<float>(4)); });
  refused([&] { rig.context.dispatch(graph, {{"x", x}}, {{"y", y}}); });
  refused([&] { rig.graph(); });
  BOOST_TEST(rig.context.accelerated());
  x.destroy();
  rig.context.destroy();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
