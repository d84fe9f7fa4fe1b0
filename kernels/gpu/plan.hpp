// A plan for a GPU: its steps, and where their operands are.
//
// A step runs a primitive on the device, runs part of the graph on the host, or copies a value. The
// host's parts are plans of the CPU backend. Lanes share a plan, which is immutable. An instance
// has a lane's memory on both sides and a queue of its own.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/gpu/device.hpp"
#include "kernels/gpu/storage.hpp"
#include "kernels/onednn/primitive_kernel.hpp"

namespace polychron::kernels::gpu {

/// Where a value is in the device's memory.
struct Location {
  enum class Kind : std::uint8_t { none, buffer, constant, input, output };
  Kind kind = Kind::none;
  std::size_t index = 0;
};

/// A primitive.
struct RunKernel {
  std::unique_ptr<onednn::PrimitiveKernel> kernel;
  std::vector<Location> inputs, outputs;
};
/// Operators that the host computes.
struct RunOnHost {
  std::shared_ptr<const Plan> plan;
  std::vector<std::size_t> inputs, outputs;  ///< numbers of values on the host
};
struct Download {
  Location from;
  std::size_t to = 0;  ///< number of a value on the host
};
struct Upload {
  std::size_t from = 0;  ///< number of a value on the host
  Location to;
};
struct Copy {
  Location from, to;
  std::size_t bytes = 0;  ///< of the value; a buffer may be larger
};

/// For std::visit: a kind of step that a visit forgets does not compile.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

struct Step {
  std::variant<RunKernel, RunOnHost, Download, Upload, Copy> work;
  std::string label;  ///< of the operator; empty for copies
  std::string text;   ///< for describe()
};

/// A constant in the device's memory. Plans of one backend share it.
struct DeviceConstant {
  explicit DeviceConstant(DeviceMemory&& bytes)
      : memory(std::move(bytes)), size(Buffer::adopt(nullptr, memory.bytes(), {})) {}
  DeviceMemory memory;
  Buffer size;  ///< has no bytes: budgets know a constant by its buffer
};

class GpuPlan final : public Plan {
 public:
  std::size_t arena_bytes() const noexcept override { return arena; }
  std::span<const ops::ConstantBytes> constants() const noexcept override { return held; }
  std::vector<std::string> describe() const override;
  std::vector<std::string> labels() const override;

  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<Backend> host;
  std::vector<Step> steps;
  std::vector<std::size_t> buffers;      ///< bytes of each intermediate memory on the device
  std::vector<std::size_t> host_values;  ///< bytes of each value on the host
  std::vector<std::shared_ptr<const DeviceConstant>> constants_of_steps;
  std::size_t scratch = 0;  ///< bytes, on the device
  std::size_t arena = 0;    ///< all that an instance allocates, on both sides
  Constants held;
  std::size_t input_count = 0, output_count = 0;
};

class GpuInstance final : public PlanInstance {
 public:
  GpuInstance(std::shared_ptr<const GpuPlan> plan, const InstanceOptions& options);
  const GpuPlan& plan() const noexcept { return *plan_; }
  /// `seconds` is empty, or has one entry for each step.
  ExecuteStatus execute(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
                        std::span<double> seconds);
  /// Parts on the host run before this returns; the device may be at work on later steps.
  void submit(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
              std::shared_ptr<Completion> done) noexcept;
  ExecuteStatus finish();

 private:
  struct BoundKernel {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
    Arguments arguments;
    std::unique_ptr<Bound> bound;
  };
  struct HostPart {
    std::unique_ptr<PlanInstance> instance;
    std::vector<Storage*> inputs, outputs;
  };
  /// A copy has neither.
  using BoundStep = std::variant<std::monostate, BoundKernel, HostPart>;

  /// Gives all steps to the device.
  void start(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
             std::span<double> seconds) noexcept;
  /// Runs `work`. A failure is in `status_`, with the operator's label; a broken invariant is in
  /// `broken_`.
  template <class F>
  void attempt(const std::string& label, const F& work) noexcept;
  /// True until an attempt has failed.
  bool ok() const noexcept { return status_.result.has_value() && !broken_; }
  /// Notifies `done`, and takes it away, once the device has finished all steps.
  void when_done(std::shared_ptr<Completion>& done) noexcept;
  /// Waits for the device, and forgets the tensors: the library would keep their memory otherwise.
  void release_tensors() noexcept;
  DeviceMemory& memory(const Location& location);
  GpuStorage* tensor(const Location& location) const;
  std::byte* handle(const Location& location);
  void take(std::span<Storage* const> inputs, std::span<Storage* const> outputs);
  void bind(const RunKernel& run, BoundKernel& bound);
  void set_addresses(const RunKernel& run, BoundKernel& bound);
  /// Gives all kernels the addresses of `tensors_`.
  void rebind();
  ExecuteStatus run(std::size_t index);
  std::span<std::byte> host_bytes(std::size_t value);

  std::shared_ptr<const GpuPlan> plan_;
  dnnl::stream stream_;
  cl_command_queue queue_;
  std::vector<DeviceMemory> buffers_;
  std::optional<DeviceMemory> scratch_;
  std::vector<std::unique_ptr<Storage>> host_values_;
  std::vector<BoundStep> steps_;
  std::vector<GpuStorage*> tensors_;  ///< inputs, then outputs, during an execution; else null
  std::exception_ptr broken_;         ///< for finish() to throw
  ExecuteStatus status_;              ///< of the execution that has begun last
};

/// The constants that plans of one backend have in the device's memory, by the host's bytes. Used
/// by one thread at a time, the compiler's.
class DeviceConstants {
 public:
  /// The constant on the device; uploads it if no plan has it. Throws Error.
  std::shared_ptr<const DeviceConstant> upload(const Gpu& gpu, const ops::ConstantBytes& bytes);

 private:
  struct Entry {
    std::weak_ptr<const Buffer> host;
    std::weak_ptr<const DeviceConstant> device;
  };
  std::map<const Buffer*, Entry> entries_;
};

/// Turns a graph into a plan. Throws Error.
std::shared_ptr<Plan> compile_for_gpu(const std::shared_ptr<const Gpu>& gpu,
                                      const std::shared_ptr<Backend>& host,
                                      DeviceConstants& constants, const ops::Graph& graph);

}  // namespace polychron::kernels::gpu
