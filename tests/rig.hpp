// A runtime on the tests' device, with planned faults.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "observe/stress/fault_backend.hpp"
#include "polychron/polychron.hpp"
#include "runtime/runtime_state.hpp"
#include "tests/device.hpp"

namespace polychron::testing {

/// The state of a runtime whose contexts all take their faults from `faults`.
inline std::shared_ptr<detail::RuntimeState> faulty_runtime(
    const std::shared_ptr<stress::FaultPlan>& faults, const RuntimeOptions& options = {}) {
  return detail::RuntimeState::create(
      options, [faults](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
        return std::shared_ptr<kernels::Backend>(
            std::make_shared<stress::FaultBackend>(backend_of_tests(), faults));
      });
}

/// A runtime with one context, on tensors of four float32, or of as many as asked for.
struct Rig {
  explicit Rig(const ContextOptions& options = {}, const RuntimeOptions& of_runtime = {})
      : state(faulty_runtime(faults, of_runtime)),
        runtime(state),
        context(runtime.create_context(options).get()) {}

  static TensorDescriptor floats(std::uint32_t count = 4, const std::string& label = {}) {
    return {{DataType::float32, {count}}, true, true, label};
  }
  Tensor tensor(const std::string& label = {}) {
    return context.create_tensor(floats(4, label)).get();
  }
  /// out = in + in.
  Graph twice() { return build().get(); }
  Future<Graph> build() {
    GraphBuilder builder(context);
    const auto in = builder.input("in", floats());
    return builder.build({{"out", builder.add(in, in)}});
  }
  void write(const Tensor& tensor, float value) {
    context.write_tensor(tensor, std::vector<float>(tensor.byte_length() / 4, value));
  }
  void dispatch(const Graph& graph, const Tensor& in, const Tensor& out,
                const DispatchOptions& options = {}) {
    context.dispatch(graph, {{"in", in}}, {{"out", out}}, options);
  }
  float read(const Tensor& tensor) {
    return context.read_tensor(tensor).get().to_vector<float>()[0];
  }

  std::shared_ptr<stress::FaultPlan> faults = std::make_shared<stress::FaultPlan>();
  std::shared_ptr<detail::RuntimeState> state;
  Runtime runtime;
  Context context;
};

}  // namespace polychron::testing
