// Every call of the public interface without memory: out_of_memory, and nothing else.
#include <array>
#include <caf/all.hpp>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "polychron/caf.hpp"
#include "polychron/trace.hpp"
#include "tests/patience.hpp"
#include "tests/rig.hpp"
#include "tests/scarcity/each_allocation.hpp"

using namespace polychron;
using namespace polychron::testing;

namespace {

/// Callers do not help: what an actor does without memory is another question.
struct Alone : Rig {
  Alone() : Rig({}, {.helping = false}) {}
  const Graph graph = twice();
  const Tensor a = tensor("a"), b = tensor("b");
  const NamedTensors in{{"in", a}}, out{{"out", b}};
  const std::vector<float> four = std::vector<float>(4, 1), three = std::vector<float>(3);
  const DispatchOptions options{.label = "a label that does not fit into a string by itself"};
};

NamedBuffers buffers(const std::string& name) {
  NamedBuffers named;
  named.emplace_back(name, Buffer(16));
  return named;
}

/// A builder with an operand, for one call.
struct Builder {
  explicit Builder(Context& context) : builder(context), x(builder.input("x", image)) {}
  const OperandDescriptor image{DataType::float32, {1, 4, 6, 6}};
  GraphBuilder builder;
  Operand x;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(calls)

BOOST_AUTO_TEST_CASE(of_buffers) {
  each_allocation_fails("zeroed", [] { return Buffer(16); });
  each_allocation_fails("large and zeroed", [] { return Buffer(std::size_t{4} << 20U); });
  each_allocation_fails("uninitialized", [] { return Buffer::uninitialized(16); });
  const std::vector<float> values(4, 1);
  each_allocation_fails("copy_of", [&] { return Buffer::copy_of(values); });
  std::vector<std::byte> own(16);
  int freed = 0, adopted = 0;
  each_allocation_fails("adopt", [&] {
    const auto buffer = Buffer::adopt(own.data(), 16, [&](std::byte*, std::size_t) { ++freed; });
    ++adopted;
  });
  BOOST_TEST(freed == adopted);  // what it has not taken stays the caller's
  const Buffer whole(16), odd(15);
  each_allocation_fails("to_vector", [&] { return whole.to_vector<float>(); });
  each_allocation_fails(
      "to_vector of a part", [&] { return odd.to_vector<float>(); }, ErrorKind::type_error);
  Buffer detached(4);
  static_cast<void>(Buffer(std::move(detached)));
  each_allocation_fails(
      "data of a detached one", [&] { return detached.data(); }, ErrorKind::type_error);
  const auto named = buffers("x");
  each_allocation_fails(
      "buffer_of", [&] { return buffer_of(named, "y").size(); }, ErrorKind::type_error);
}

BOOST_AUTO_TEST_CASE(of_replies) {
  each_allocation_fails("Cancellation", [] { return Cancellation(); });
  each_allocation_fails("Promise", [] { return Promise<int>(); });
  const auto promised = [] {
    struct Both {
      Promise<int> promise;
      Future<int> future = promise.future();
    };
    return std::make_unique<Both>();
  };
  each_allocation_fails("resolve", promised, [](auto& both) { return both->promise.resolve(1); });
  each_allocation_fails("then", promised, [](auto& both) {
    const std::array<int, 64> large{};
    both->future.then([large](const Result<int>&) { static_cast<void>(large); });
    return true;
  });
  each_allocation_fails(
      "get of nothing", [] { return Future<int>().get(); }, ErrorKind::invalid_state);
  each_allocation_fails(
      "future of nothing", [] { return Promise<int>(nullptr).future().valid(); },
      ErrorKind::invalid_state);
  // A callback that could not be kept leaves the future as it was.
  const auto both = promised();
  {
    const OwnAllocationFails failing(1);
    const std::array<int, 64> large{};
    BOOST_CHECK_THROW(both->future.then([large](const Result<int>&) { static_cast<void>(large); }),
                      Error);
  }
  BOOST_TEST(both->future.valid());
}

BOOST_AUTO_TEST_CASE(of_runtimes) {
  each_allocation_fails("Runtime", [] { return Runtime({.helping = false}); });
  each_allocation_fails(
      "Runtime with too many threads", [] { return Runtime({.scheduler_threads = -1}); },
      ErrorKind::type_error);
  Runtime runtime({.helping = false});
  each_allocation_fails("create_context", [&] { return runtime.create_context(); });
  each_allocation_fails("start_trace", [&] {
    runtime.start_trace();
    return 0;
  });
  each_allocation_fails("trace", [&] { return runtime.trace(); });
  const auto trace = runtime.trace();
  const auto file = std::filesystem::temp_directory_path() / "polychron.calls.trace";
  each_allocation_fails("save_trace", [&] {
    save_trace(trace, file);
    return 0;
  });
  std::filesystem::remove(file);
  // It loads drivers once. An exception of their initialisers would leave the loader locked.
  static_cast<void>(devices());
  each_allocation_fails("devices", [] { return devices(); });
  each_allocation_fails("default_memory_limit", [] { return default_memory_limit(); });
  each_allocation_fails("usable_cores", [] { return usable_cores(); });
  each_allocation_fails("ContextOptions", [] { return ContextOptions().lanes; });
  caf::actor_system_config config;
  caf::actor_system system{config};
  each_allocation_fails("make_runtime", [&] { return make_runtime(system); });
}

BOOST_AUTO_TEST_CASE(of_tensors) {
  Alone rig;
  auto& context = rig.context;
  const auto descriptor = Rig::floats();
  const TensorUsage usage{.readable = true, .label = rig.options.label};
  each_allocation_fails("create_tensor", [&] { return context.create_tensor(descriptor); });
  const OperandDescriptor operand = descriptor;
  each_allocation_fails("create_tensor, usage",
                        [&] { return context.create_tensor(operand, usage); });
  each_allocation_fails("create_constant_tensor", [&] {
    return context.create_constant_tensor(operand, std::as_bytes(std::span(rig.four)));
  });
  const auto bytes = [] { return Buffer(16); };
  each_allocation_fails("create_constant_tensor, buffer", bytes, [&](Buffer& given) {
    return context.create_constant_tensor(operand, std::move(given));
  });
  each_allocation_fails("write", [&] {
    context.write_tensor(rig.a, rig.four);
    return 0;
  });
  each_allocation_fails(
      "wrong write",
      [&] {
        context.write_tensor(rig.a, rig.three);
        return 0;
      },
      ErrorKind::type_error);
  const std::vector<std::int32_t> integers(4);
  each_allocation_fails(
      "write of another type",
      [&] {
        context.write_tensor(rig.a, integers);
        return 0;
      },
      ErrorKind::type_error);
  each_allocation_fails("write of a buffer", bytes, [&](Buffer& given) {
    context.write_tensor(rig.a, std::move(given));
    return 0;
  });
  each_allocation_fails("read", [&] { return context.read_tensor(rig.a); });
  each_allocation_fails("read into a buffer", bytes, [&](Buffer& given) {
    return context.read_tensor(rig.a, std::move(given));
  });
  std::vector<std::byte> memory(16);
  each_allocation_fails("read into memory",
                        [&] { return context.read_tensor(rig.a, std::span(memory)); });
  each_allocation_fails("export", [&] { return context.export_tensor(rig.a); });
  each_allocation_fails("error", [&] { return rig.a.error(); });
  auto lease = context.export_tensor(rig.b).get();
  each_allocation_fails("on_revoked", [&] {
    lease.on_revoked([] {});
    return 0;
  });
  lease.return_now();
  each_allocation_fails(
      "bytes of nothing", [&] { return lease.bytes(); }, ErrorKind::invalid_state);
  const Tensor nothing;
  each_allocation_fails(
      "error of nothing", [&] { return nothing.error(); }, ErrorKind::type_error);
  each_allocation_fails(
      "label of nothing", [&] { return nothing.label().size(); }, ErrorKind::type_error);
}

BOOST_AUTO_TEST_CASE(of_contexts) {
  Alone rig;
  auto& context = rig.context;
  each_allocation_fails("dispatch", [&] {
    context.dispatch(rig.graph, rig.in, rig.out, rig.options);
    return 0;
  });
  each_allocation_fails(
      "dispatch without outputs",
      [&] {
        context.dispatch(rig.graph, rig.in, {});
        return 0;
      },
      ErrorKind::type_error);
  const auto both = [] { return std::pair(buffers("in"), buffers("out")); };
  each_allocation_fails("compute", both, [&](auto& given) {
    return context.compute(rig.graph, std::move(given.first), std::move(given.second));
  });
  each_allocation_fails("push and pop", [&] {
    context.push_error_scope(ErrorFilter::internal);
    return 0;
  });
  each_allocation_fails(
      "pop",
      [&] {
        context.push_error_scope(ErrorFilter::internal);
        return 0;
      },
      [&](int&) { return context.pop_error_scope(); });
  each_allocation_fails("on_uncaptured_error", [&] {
    context.on_uncaptured_error([](const Error&) {});
    return 0;
  });
  each_allocation_fails("log", [&] {
    context.log(LogLevel::error, rig.options.label);
    return 0;
  });
  each_allocation_fails("stats", [&] { return context.stats(); });
  each_allocation_fails("pending", [&] { return context.pending(); });
  each_allocation_fails("lost", [&] { return context.lost().valid(); });
  each_allocation_fails("op_support_limits", [&] { return &context.op_support_limits(); });
  each_allocation_fails("actor_of", [&] { return actor_of(context); });
  Context nothing;
  each_allocation_fails(
      "label of nothing", [&] { return nothing.label().size(); }, ErrorKind::type_error);
  const Graph no_graph;
  each_allocation_fails(
      "plan of nothing", [&] { return no_graph.plan().size(); }, ErrorKind::type_error);
  context.destroy();
  each_allocation_fails(
      "read of a context that is gone", [&] { return context.read_tensor(rig.a); },
      ErrorKind::invalid_state);
}

BOOST_AUTO_TEST_CASE(of_builders) {
  Alone rig;
  auto& context = rig.context;
  const auto begun = [&] { return std::make_unique<Builder>(context); };
  using Begun = std::unique_ptr<Builder>;
  each_allocation_fails("GraphBuilder", [&] { return GraphBuilder(context); });
  const auto call = [&](const char* name, auto make) { each_allocation_fails(name, begun, make); };
  call("input", [](Begun& b) { return b->builder.input("y", b->image); });
  const OperandDescriptor four{DataType::float32, {4}};
  call("constant", [&](Begun& b) { return b->builder.constant(four, rig.four); });
  call("scalar", [](Begun& b) { return b->builder.constant(DataType::float32, 2.0); });
  each_allocation_fails(
      "constant of another length", begun,
      [&](Begun& b) { return b->builder.constant(four, rig.three); }, ErrorKind::type_error);
  const auto constant = context.create_constant_tensor(four, Buffer(16)).get();
  call("constant tensor", [&](Begun& b) { return b->builder.constant(constant); });
  call("add", [](Begun& b) { return b->builder.add(b->x, b->x, "sum"); });
  const Pool2dAttributes pool{.window_dimensions = std::vector<std::uint32_t>{2, 2}};
  call("pool", [&](Begun& b) { return b->builder.max_pool2d(b->x, pool); });
  const Shape shape{4, 36}, wide{3, 4, 6, 6};
  call("reshape", [&](Begun& b) { return b->builder.reshape(b->x, shape); });
  call("expand", [&](Begun& b) { return b->builder.expand(b->x, wide); });
  const std::vector<std::uint32_t> twos(4, 2), parts{1, 3};
  call("tile", [&](Begun& b) { return b->builder.tile(b->x, twos); });
  call("split", [&](Begun& b) { return b->builder.split(b->x, parts, 1); });
  call("equal split", [](Begun& b) { return b->builder.split(b->x, 2, 1); });
  each_allocation_fails(
      "concat",
      [&] {
        auto made = begun();
        std::vector<Operand> both{made->x, made->x};
        return std::pair(std::move(made), std::move(both));
      },
      [](auto& given) { return given.first->builder.concat(given.second, 1); });
  each_allocation_fails(
      "wrong operator", begun, [](Begun& b) { return b->builder.softmax(b->x, 9, "wrong"); },
      ErrorKind::type_error);
  each_allocation_fails(
      "build",
      [&] {
        auto made = begun();
        NamedOperands outputs{{"y", made->builder.relu(made->x)}};
        return std::pair(std::move(made), std::move(outputs));
      },
      [](auto& given) { return given.first->builder.build(given.second); });
  const NamedOperands none;
  each_allocation_fails(
      "build of nothing", begun, [&](Begun& b) { return b->builder.build(none); },
      ErrorKind::type_error);
  GraphBuilder moved(context);
  const GraphBuilder elsewhere(std::move(moved));
  each_allocation_fails(
      "moved builder", [&] { return moved.context(); }, ErrorKind::invalid_state);
}

BOOST_AUTO_TEST_SUITE_END()
