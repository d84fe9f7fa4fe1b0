#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/guarded.hpp"
#include "tests/backends/planted_backend.hpp"

namespace polychron::testing {
namespace {

using kernels::ExecuteStatus;
using kernels::InstanceOptions;
using kernels::Plan;
using kernels::PlanInstance;
using kernels::Storage;

/// A plan whose sizes may be wrong.
struct WrongPlan final : Plan {
  explicit WrongPlan(std::shared_ptr<Plan> of) : right(std::move(of)) {
    held.assign(right->constants().begin(), right->constants().end());
  }
  std::size_t arena_bytes() const noexcept override { return arena; }
  std::span<const ops::ConstantBytes> constants() const noexcept override { return held; }
  std::vector<std::string> describe() const override { return right->describe(); }
  std::vector<std::string> labels() const override { return right->labels(); }
  std::shared_ptr<Plan> right;
  std::size_t arena = right->arena_bytes();
  kernels::Constants held;
};

struct WrongInstance final : PlanInstance {
  std::unique_ptr<PlanInstance> right;
  std::weak_ptr<const Plan> plan;
};

/// By a call, which the compiler may not leave out as it may a new expression.
void allocate_something() { ::operator delete(::operator new(1)); }

class PlantedBackend final : public kernels::ForwardingBackend {
 public:
  PlantedBackend(std::string promise, const std::atomic<bool>& lost)
      : ForwardingBackend(kernels::make_cpu_backend()), broken_(std::move(promise)), lost_(lost) {}

  Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) override {
    if (lost_) return loss();
    if (breaks("nothing thrown")) allocate_something();
    auto storage = inner().allocate(bytes);
    if (breaks("zeros") && storage) (*inner().map(**storage))[bytes - 1] = std::byte{1};
    if (breaks("out of memory") && !storage)
      return Error(ErrorKind::operation_error, storage.error().message());
    return storage;
  }
  Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) override {
    if (lost_) return loss();
    auto* const address = bytes.data();
    const auto odd = reinterpret_cast<std::uintptr_t>(address) % 16;
    if (breaks("any address") && odd != 0)
      return inner().adopt(Buffer::adopt(address - odd, bytes.size(), [](auto*, auto) {}));
    if (!breaks("adopt on success")) return inner().adopt(std::move(bytes));
    Buffer own = std::move(bytes);
    return inner().adopt(std::move(own));
  }
  Result<std::span<std::byte>> map(Storage& storage) override {
    auto mapped = inner().map(storage);
    if (!breaks("map")) return mapped;
    static std::vector<std::byte> copy;
    copy.assign(mapped->begin(), mapped->end());
    return std::span(copy);
  }
  Result<Buffer> surrender(std::unique_ptr<Storage> storage) override {
    auto back = inner().surrender(std::move(storage));
    if (breaks("same buffer") && back) return Buffer::copy_of(back->bytes());
    if (breaks("adopt, surrender") && back) back->bytes()[0] ^= std::byte{1};
    return back;
  }
  Result<void> write(Storage& storage, std::span<const std::byte> bytes) override {
    if (lost_) return loss();
    if (breaks("sizes checked") && bytes.size() < storage.bytes()) return {};
    auto status = inner().write(storage, bytes);
    if (breaks("bytes exact") && bytes.size() > 4096) (*inner().map(storage))[4096] ^= std::byte{1};
    return status;
  }
  Result<void> read(const Storage& storage, std::span<std::byte> bytes) override {
    return lost_ ? loss() : inner().read(storage, bytes);
  }

  Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph> graph) override {
    return kernels::guarded([&]() -> Result<std::shared_ptr<Plan>> {
      if (std::this_thread::get_id() != home_) compiled_elsewhere_ = true;
      auto right = inner().compile(std::move(graph));
      if (!right) return right;
      auto plan = std::make_shared<WrongPlan>(std::move(right).value());
      if (breaks("arena_bytes()")) plan->arena /= 2;
      if (breaks("constants shared") && !plan->held.empty())
        plan->held.push_back(plan->held.front());
      return std::shared_ptr<Plan>(std::move(plan));
    });
  }
  Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan> plan,
                                                    const InstanceOptions& options) override {
    return kernels::guarded([&]() -> Result<std::unique_ptr<PlanInstance>> {
      auto instance = std::make_unique<WrongInstance>();
      instance->plan = plan;
      auto right = inner().instantiate(static_cast<const WrongPlan&>(*plan).right, options);
      if (!right) return right;
      instance->right = std::move(right).value();
      return std::unique_ptr<PlanInstance>(std::move(instance));
    });
  }
  ExecuteStatus execute(PlanInstance& plan, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs) override {
    return profile(plan, inputs, outputs, {});
  }
  ExecuteStatus profile(PlanInstance& plan, std::span<Storage* const> inputs,
                        std::span<Storage* const> outputs, std::span<double> seconds) override {
    if (lost_) return {loss(), false};
    if (breaks("no allocation")) allocate_something();
    const auto wrong = [&] { (*inner().map(*outputs[0]))[0] ^= std::byte{1}; };
    auto& instance = static_cast<WrongInstance&>(plan);
    auto status = inner().profile(*instance.right, inputs, outputs, seconds);
    if (breaks("computes")) wrong();
    if (breaks("compiles beside") && compiled_elsewhere_) wrong();
    if (breaks("lanes share plans") && instance.plan.expired()) wrong();
    if (breaks("lanes side by side") && std::this_thread::get_id() != home_) wrong();
    if (breaks("graph of many steps") && !seconds.empty()) seconds.back() = -1;
    return status;
  }
  bool submits() const noexcept override { return true; }
  void submit(PlanInstance& plan, std::span<Storage* const> inputs,
              std::span<Storage* const> outputs,
              std::shared_ptr<kernels::Completion> done) noexcept override {
    submitted_ = execute(plan, inputs, outputs);
    done->notify();
    if (breaks("submits")) done->notify();
  }
  ExecuteStatus finish(PlanInstance&) override { return std::move(submitted_); }

 private:
  bool breaks(std::string_view promise) const { return broken_ == promise; }
  Error loss() const {
    return Error(breaks("lost device") ? ErrorKind::operation_error : ErrorKind::context_lost,
                 "lost");
  }
  const std::string broken_;
  ExecuteStatus submitted_;
  const std::atomic<bool>& lost_;
  const std::thread::id home_ = std::this_thread::get_id();
  std::atomic<bool> compiled_elsewhere_ = false;
};

}  // namespace

Candidate candidate_without(const std::string& promise) {
  static std::atomic<bool> lost = false;
  Candidate candidate{"planted",
                      [promise] { return std::make_shared<PlantedBackend>(promise, lost); }};
  candidate.submits = true;
  candidate.lose = [](bool now) { lost = now; };
  return candidate;
}

}  // namespace polychron::testing
