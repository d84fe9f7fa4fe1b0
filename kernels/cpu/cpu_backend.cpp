#include "kernels/cpu/cpu_backend.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/invariant.hpp"
#include "kernels/cpu/host_storage.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/guarded.hpp"

namespace polychron::kernels {
namespace {

/// Runs code that makes a plan. A broken invariant becomes an error of that plan alone.
template <class F>
auto at_its_cost(F make) -> decltype(make()) {
  try {
    return make();
  } catch (const BrokenInvariant& broken) {
    return Error(ErrorKind::internal, broken.what());
  }
}

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const PlanSettings& settings) : settings_(settings) {}
  std::string name() const override { return "cpu"; }

  Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) override {
    return adopt_new([&] { return Buffer(bytes); });
  }
  Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) override {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    const bool usable =
        address % alignof(std::max_align_t) == 0;  // adopted memory may have any address
    if (!usable) return adopt_new([&] { return Buffer::copy_of(bytes.bytes()); });
    // Moves the bytes only after the storage is allocated; until then the caller keeps them.
    return guarded([&]() -> Result<std::unique_ptr<Storage>> {
      return std::unique_ptr<Storage>(std::make_unique<HostStorage>(std::move(bytes)));
    });
  }

  Result<std::span<std::byte>> map(Storage& storage) override {
    return std::span(host_data(storage), storage.bytes());
  }
  Result<Buffer> surrender(std::unique_ptr<Storage> storage) override {
    return std::move(static_cast<HostStorage&>(*storage)).take();
  }

  Result<void> write(Storage& storage, std::span<const std::byte> bytes) override {
    if (bytes.size() != storage.bytes()) return wrong_size(storage, bytes.size());
    if (!bytes.empty()) std::memcpy(host_data(storage), bytes.data(), bytes.size());
    return {};
  }
  Result<void> read(const Storage& storage, std::span<std::byte> bytes) override {
    if (bytes.size() != storage.bytes()) return wrong_size(storage, bytes.size());
    const auto& source = static_cast<const HostStorage&>(storage);
    if (!bytes.empty()) std::memcpy(bytes.data(), source.data(), bytes.size());
    return {};
  }

  Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph> graph) override {
    return guarded(
        [&] { return at_its_cost([&] { return compile_plan(std::move(graph), settings_); }); });
  }

  Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan> plan,
                                                    const InstanceOptions& options) override {
    using Instance = Result<std::unique_ptr<PlanInstance>>;
    return guarded([&] {
      return at_its_cost([&]() -> Instance {
        auto own = std::static_pointer_cast<const CpuPlan>(std::move(plan));
        return Instance(std::make_unique<PlanLane>(std::move(own), options));
      });
    });
  }

  ExecuteStatus execute(PlanInstance& instance, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs) override {
    return profile(instance, inputs, outputs, {});
  }

  ExecuteStatus profile(PlanInstance& instance, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs, std::span<double> seconds) override {
    auto& lane = static_cast<PlanLane&>(instance);
    const CpuPlan& plan = lane.plan();
    if (inputs.size() != plan.input_count || outputs.size() != plan.output_count)
      return {Error(ErrorKind::internal, "wrong number of tensors for the plan"), true};
    return lane.execute(inputs, outputs, seconds);
  }

 private:
  template <class Make>
  static Result<std::unique_ptr<Storage>> adopt_new(Make&& make) {
    using Made = Result<std::unique_ptr<Storage>>;
    return guarded([&]() -> Made { return Made(std::make_unique<HostStorage>(make())); });
  }
  PlanSettings settings_;
};

}  // namespace

std::shared_ptr<Backend> make_cpu_backend(const PlanSettings& settings) {
  return std::make_shared<CpuBackend>(settings);
}

}  // namespace polychron::kernels
