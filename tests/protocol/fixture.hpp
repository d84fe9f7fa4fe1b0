// A small server's objects on a driven world, with planned faults.
#pragma once

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>

#include "observe/stress/fault_backend.hpp"
#include "observe/stress/symbolic_backend.hpp"
#include "observe/stress/world.hpp"
#include "runtime/builder_bridge.hpp"
#include "tests/device.hpp"

namespace polychron::testing {

using stress::Fault;
using stress::FaultPoint;

/// Runs on the seed in POLYCHRON_SEED, or 1.
inline std::uint64_t seed_of_run() {
  const char* seed = std::getenv("POLYCHRON_SEED");
  return seed == nullptr ? 1 : std::stoull(seed);
}

/// True if symbols stand for what graphs compute: unless the tests have a device.
inline bool symbolic() { return std::getenv("POLYCHRON_TEST_DEVICE") == nullptr; }

/// Makes a backend of another one.
using Wrap = std::function<std::shared_ptr<kernels::Backend>(std::shared_ptr<kernels::Backend>)>;

/// Backends of symbols, or of the tests' device, that take their faults from `faults`, in what
/// `wrap` makes of them.
inline detail::BackendFactory faulty_symbols(std::shared_ptr<stress::FaultPlan> faults,
                                             Wrap wrap = {}) {
  return [faults, wrap](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
    std::shared_ptr<kernels::Backend> inner;
    if (symbolic()) inner = std::make_shared<stress::SymbolicBackend>();
    if (!symbolic()) inner = backend_of_tests();
    inner = std::make_shared<stress::FaultBackend>(std::move(inner), faults);
    return wrap ? wrap(std::move(inner)) : std::move(inner);
  };
}

/// The graph for which symbols stand.
inline std::shared_ptr<const ops::Graph> graph_of_tests(const std::string& label,
                                                        std::size_t inputs) {
  return symbolic() ? stress::symbolic_graph(label, inputs) : stress::computed_graph(label, inputs);
}

struct Server {
  explicit Server(ContextOptions options = {}, std::uint64_t seed = seed_of_run(), Wrap wrap = {})
      : strategy(seed),
        world(strategy, faulty_symbols(faults, std::move(wrap))),
        context(world.settle(world.runtime().create_context(options)).value()) {}

  Tensor tensor(const std::string& label = {}) {
    auto descriptor = stress::value_descriptor;
    descriptor.label = label;
    return world.settle(context.create_tensor(descriptor)).value();
  }
  Graph graph(const std::string& label, std::size_t inputs = 1) {
    return world.settle(detail::submit_build(context, graph_of_tests(label, inputs), {label}))
        .value();
  }
  void write(const Tensor& tensor, std::uint64_t value, const std::string& label = {}) {
    context.write_tensor(tensor, std::vector{value}, {label});
  }
  void dispatch(const Graph& graph, const Tensor& in, const Tensor& out,
                const DispatchOptions& options = {}) {
    context.dispatch(graph, {{"in0", in}}, {{"out", out}}, options);
  }
  /// The result of `graph` for `value`.
  static std::uint64_t result(const std::string& graph, std::uint64_t value) {
    return stress::symbolic_result(graph, 0, std::vector{value});
  }
  Result<std::uint64_t> read(const Tensor& tensor) {
    auto bytes = world.settle(context.read_tensor(tensor));
    if (!bytes) return bytes.error();
    return bytes->as<std::uint64_t>()[0];
  }

  std::shared_ptr<stress::FaultPlan> faults = std::make_shared<stress::FaultPlan>();
  stress::RandomStrategy strategy;
  stress::World world;
  Context context;
};

inline bool mentions(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

/// Fails the test unless `call` throws an Error of this kind; returns it.
template <class F>
Error thrown(ErrorKind kind, F call) {
  try {
    call();
  } catch (const Error& error) {
    BOOST_TEST((error.kind() == kind), "expected " << to_string(kind) << ", got "
                                                   << to_string(error.kind()) << ": "
                                                   << error.what());
    return error;
  }
  BOOST_ERROR("expected " << to_string(kind) << ", but nothing was thrown");
  return Error(ErrorKind::internal, "");
}

/// Fails the test unless `result` is an Error of this kind; returns it.
template <class T>
Error rejected(ErrorKind kind, const Result<T>& result) {
  if (result) {
    BOOST_ERROR("expected " << to_string(kind) << ", but there is a value");
    return Error(ErrorKind::internal, "");
  }
  BOOST_TEST((result.error().kind() == kind), "expected " << to_string(kind) << ", got "
                                                          << to_string(result.error().kind())
                                                          << ": " << result.error().what());
  return result.error();
}

}  // namespace polychron::testing
