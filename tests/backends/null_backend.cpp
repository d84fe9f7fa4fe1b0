#include "tests/backends/null_backend.hpp"

#include <cstring>

#include "kernels/guarded.hpp"

namespace polychron::testing {
namespace {

using kernels::ExecuteStatus;
using kernels::guarded;
using kernels::InstanceOptions;
using kernels::Plan;
using kernels::PlanInstance;
using kernels::Storage;
using kernels::wrong_size;

/// A tensor's memory. On a device, `bytes` would be a handle.
struct NullStorage final : Storage {
  explicit NullStorage(Buffer content) : memory(std::move(content)) {}
  std::size_t bytes() const noexcept override { return memory.size(); }
  Buffer memory;
};

/// All lanes share it: the steps, and constants in the device's form.
struct NullPlan final : Plan {
  std::size_t arena_bytes() const noexcept override { return 0; }
  std::vector<std::string> describe() const override { return {}; }
};

/// A lane's own: scratch memory, a queue.
struct NullInstance final : PlanInstance {};

class NullBackend final : public kernels::Backend {
 public:
  std::string name() const override { return "null"; }

  // Failures are values. guarded() turns exceptions into them, bad_alloc among them.
  Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) override {
    return guarded([&]() -> Result<std::unique_ptr<Storage>> {
      return std::unique_ptr<Storage>(std::make_unique<NullStorage>(Buffer(bytes)));
    });
  }
  Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) override {
    // The argument is moved only when nothing can fail any more.
    return guarded([&]() -> Result<std::unique_ptr<Storage>> {
      return std::unique_ptr<Storage>(std::make_unique<NullStorage>(std::move(bytes)));
    });
  }
  Result<std::span<std::byte>> map(Storage& storage) override {
    return static_cast<NullStorage&>(storage).memory.bytes();
  }
  Result<Buffer> surrender(std::unique_ptr<Storage> storage) override {
    return std::move(static_cast<NullStorage&>(*storage).memory);
  }
  Result<void> write(Storage& storage, std::span<const std::byte> bytes) override {
    if (bytes.size() != storage.bytes()) return wrong_size(storage, bytes.size());
    if (!bytes.empty())
      std::memcpy(static_cast<NullStorage&>(storage).memory.data(), bytes.data(), bytes.size());
    return {};
  }
  Result<void> read(const Storage& storage, std::span<std::byte> bytes) override {
    if (bytes.size() != storage.bytes()) return wrong_size(storage, bytes.size());
    if (!bytes.empty())
      std::memcpy(bytes.data(), static_cast<const NullStorage&>(storage).memory.data(),
                  bytes.size());
    return {};
  }

  Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph>) override {
    return guarded([]() -> Result<std::shared_ptr<Plan>> {
      return std::shared_ptr<Plan>(std::make_shared<NullPlan>());
    });
  }
  Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan>,
                                                    const InstanceOptions&) override {
    return guarded([]() -> Result<std::unique_ptr<PlanInstance>> {
      return std::unique_ptr<PlanInstance>(std::make_unique<NullInstance>());
    });
  }
  ExecuteStatus execute(PlanInstance&, std::span<Storage* const>,
                        std::span<Storage* const>) override {
    return {};
  }
};

}  // namespace

std::shared_ptr<kernels::Backend> make_null_backend() { return std::make_shared<NullBackend>(); }

}  // namespace polychron::testing
