#include "kernels/gpu/gpu_backend.hpp"

#include "base/invariant.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/devices.hpp"
#include "kernels/gpu/plan.hpp"
#include "kernels/gpu/rows.hpp"
#include "kernels/guarded.hpp"
#include "kernels/onednn/devices.hpp"
#include "kernels/threads.hpp"

namespace polychron::kernels {
namespace gpu {
namespace {

GpuStorage& gpu_storage(Storage& storage) { return static_cast<GpuStorage&>(storage); }

/// As kernels::guarded(); the library's exceptions too become errors of the device.
template <class F>
auto guarded(F call) -> decltype(call()) {
  return kernels::guarded([&]() -> decltype(call()) {
    try {
      return call();
    } catch (const dnnl::error& error) {
      return of_device(error);
    }
  });
}

class GpuBackend final : public Backend {
 public:
  explicit GpuBackend(std::shared_ptr<const Gpu> gpu)
      : gpu_(std::move(gpu)),
        host_(make_cpu_backend()),
        transfers_(gpu_->engine),
        queue_(queue_of(transfers_)) {}

  std::string name() const override { return "gpu"; }

  Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) override {
    return guarded([&]() -> Result<std::unique_ptr<Storage>> {
      DeviceMemory memory(*gpu_, bytes);
      memory.clear(queue_);
      return std::unique_ptr<Storage>(std::make_unique<GpuStorage>(std::move(memory)));
    });
  }
  Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) override {
    return guarded([&]() -> Result<std::unique_ptr<Storage>> {
      auto storage = std::make_unique<GpuStorage>(DeviceMemory(*gpu_, bytes.size()));
      storage->adopt(std::move(bytes));
      return std::unique_ptr<Storage>(std::move(storage));
    });
  }
  Result<std::span<std::byte>> map(Storage& storage) override {
    return guarded([&]() -> Result<std::span<std::byte>> {
      return gpu_storage(storage).on_host(queue_).bytes();
    });
  }
  Result<Buffer> surrender(std::unique_ptr<Storage> storage) override {
    return guarded(
        [&]() -> Result<Buffer> { return std::move(gpu_storage(*storage).on_host(queue_)); });
  }
  Result<void> write(Storage& storage, std::span<const std::byte> bytes) override {
    return guarded([&]() -> Result<void> {
      if (bytes.size() != storage.bytes()) return wrong_size(storage, bytes.size());
      gpu_storage(storage).write(queue_, bytes);
      return {};
    });
  }
  Result<void> read(const Storage& storage, std::span<std::byte> bytes) override {
    return guarded([&]() -> Result<void> {
      if (bytes.size() != storage.bytes()) return wrong_size(storage, bytes.size());
      static_cast<const GpuStorage&>(storage).read(queue_, bytes);
      return {};
    });
  }

  Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph> graph) override {
    return guarded([&]() -> Result<std::shared_ptr<Plan>> {
      try {
        return compile_for_gpu(gpu_, host_, constants_, *graph);
      } catch (const BrokenInvariant& broken) {
        return Error(ErrorKind::internal, broken.what());
      }
    });
  }
  Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan> plan,
                                                    const InstanceOptions& options) override {
    return guarded([&]() -> Result<std::unique_ptr<PlanInstance>> {
      auto own = std::static_pointer_cast<const GpuPlan>(std::move(plan));
      return std::unique_ptr<PlanInstance>(std::make_unique<GpuInstance>(std::move(own), options));
    });
  }
  ExecuteStatus execute(PlanInstance& plan, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs) override {
    return profile(plan, inputs, outputs, {});
  }
  ExecuteStatus profile(PlanInstance& instance, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs, std::span<double> seconds) override {
    auto& own = static_cast<GpuInstance&>(instance);
    ensure(inputs.size() == own.plan().input_count && outputs.size() == own.plan().output_count,
           "a dispatch has the plan's number of tensors");
    return own.execute(inputs, outputs, seconds);
  }
  bool submits() const noexcept override { return true; }
  void submit(PlanInstance& instance, std::span<Storage* const> inputs,
              std::span<Storage* const> outputs,
              std::shared_ptr<Completion> done) noexcept override {
    static_cast<GpuInstance&>(instance).submit(inputs, outputs, std::move(done));
  }
  ExecuteStatus finish(PlanInstance& instance) override {
    return static_cast<GpuInstance&>(instance).finish();
  }

 private:
  const std::shared_ptr<const Gpu> gpu_;
  const std::shared_ptr<Backend> host_;
  DeviceConstants constants_;
  const dnnl::stream transfers_;  ///< of copies between host and tensors
  cl_command_queue const queue_;
};

}  // namespace
}  // namespace gpu

Device find_gpu() {
  const auto library = onednn::library_version();
  const auto gpu = gpu::open_gpu();
  if (!gpu) return {"gpu", library, gpu.error().message(), {}};
  constexpr std::size_t mib = 1 << 20;
  return {"gpu",
          library + ", " + (*gpu)->name + ", " + std::to_string((*gpu)->memory_bytes / mib) +
              " MiB, sub-groups of " + std::to_string((*gpu)->sub_group_size),
          "", gpu::operators()};
}

Result<std::shared_ptr<Backend>> make_gpu_backend() {
  auto gpu = gpu::open_gpu();
  if (!gpu) return gpu.error();
  return gpu::guarded([&]() -> Result<std::shared_ptr<Backend>> {
    return std::shared_ptr<Backend>(std::make_shared<gpu::GpuBackend>(std::move(gpu).value()));
  });
}

}  // namespace polychron::kernels
