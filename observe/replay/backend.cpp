#include "observe/replay/backend.hpp"

#include <limits>
#include <map>
#include <optional>

#include "kernels/guarded.hpp"

namespace polychron::replay {

namespace {

using kernels::InstanceOptions;
using kernels::Plan;
using kernels::PlanInstance;
using kernels::Storage;

struct Bytes : Storage {
  explicit Bytes(std::size_t count) : size(count) {}
  std::size_t bytes() const noexcept override { return size; }
  std::size_t size;
  Buffer lent;  ///< once somebody wants to touch them
};
struct NoSteps : Plan {
  std::size_t arena_bytes() const noexcept override { return 0; }
  std::vector<std::string> describe() const override { return {}; }
};
struct NoInstance : PlanInstance {};

/// Computes nothing, and knows how many bytes there would be.
class SizesBackend final : public kernels::Backend {
 public:
  std::string name() const override { return "sizes"; }
  Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) override {
    return std::unique_ptr<Storage>(std::make_unique<Bytes>(bytes));
  }
  Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) override {
    auto storage = allocate(bytes.size());
    static_cast<void>(Buffer(std::move(bytes)));
    return storage;
  }
  Result<std::span<std::byte>> map(Storage& storage) override {
    auto& bytes = static_cast<Bytes&>(storage);
    if (bytes.lent.size() == 0) bytes.lent = Buffer(bytes.size);
    return bytes.lent.bytes();
  }
  Result<Buffer> surrender(std::unique_ptr<Storage> storage) override {
    return Buffer(storage->bytes());
  }
  Result<void> write(Storage&, std::span<const std::byte>) override { return {}; }
  Result<void> read(const Storage&, std::span<std::byte>) override { return {}; }
  Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph>) override {
    return std::shared_ptr<Plan>(std::make_shared<NoSteps>());
  }
  Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan>,
                                                    const InstanceOptions&) override {
    return std::unique_ptr<PlanInstance>(std::make_unique<NoInstance>());
  }
  kernels::ExecuteStatus execute(PlanInstance&, std::span<Storage* const>,
                                 std::span<Storage* const>) override {
    return {Result<void>(), false};
  }
};

/// A plan that no budget has room for.
struct TooLarge : Plan {
  std::size_t arena_bytes() const noexcept override { return 0; }
  std::size_t constant_bytes() const noexcept override {
    return std::numeric_limits<std::size_t>::max();
  }
  std::vector<std::string> describe() const override { return {}; }
};

class ReplayBackend final : public kernels::ForwardingBackend {
 public:
  ReplayBackend(std::shared_ptr<const AtWork> at, std::shared_ptr<kernels::Backend> inner)
      : ForwardingBackend(std::move(inner)), at_(std::move(at)) {}

  std::string name() const override { return "replay of " + inner().name(); }
  Result<std::unique_ptr<Storage>> allocate(std::size_t bytes) override {
    if (auto error = strike()) return *error;
    return inner().allocate(bytes);
  }
  Result<std::unique_ptr<Storage>> adopt(Buffer&& bytes) override {
    if (auto error = strike()) return *error;
    return inner().adopt(std::move(bytes));
  }
  Result<std::span<std::byte>> map(Storage& storage) override {
    if (auto error = strike()) return *error;
    return inner().map(storage);
  }
  Result<void> write(Storage& storage, std::span<const std::byte> bytes) override {
    if (auto error = strike()) return *error;
    return inner().write(storage, bytes);
  }
  Result<void> read(const Storage& storage, std::span<std::byte> bytes) override {
    if (auto error = strike()) return *error;
    return inner().read(storage, bytes);
  }
  Result<std::shared_ptr<Plan>> compile(std::shared_ptr<const ops::Graph> graph) override {
    const auto& context = *at_->context;
    if (const auto failed = context.not_built.find(at_->graph); failed != context.not_built.end())
      return failed->second;
    if (context.not_loaded.contains(at_->graph))
      return std::shared_ptr<Plan>(std::make_shared<TooLarge>());
    return inner().compile(std::move(graph));
  }
  Result<std::unique_ptr<PlanInstance>> instantiate(std::shared_ptr<const Plan> plan,
                                                    const InstanceOptions& options) override {
    if (auto error = strike()) return *error;
    return inner().instantiate(std::move(plan), options);
  }
  kernels::ExecuteStatus execute(PlanInstance& plan, std::span<Storage* const> inputs,
                                 std::span<Storage* const> outputs) override {
    if (at_->call != nullptr && at_->call->fault) return {*at_->call->fault, at_->call->inherent};
    return inner().execute(plan, inputs, outputs);
  }
  /// The device has finished at once. The order says when the lane hears of it.
  bool submits() const noexcept override { return at_->context->submitted.contains(at_->ticket); }
  void submit(PlanInstance& plan, std::span<Storage* const> inputs,
              std::span<Storage* const> outputs,
              std::shared_ptr<kernels::Completion> done) noexcept override {
    executed_[&plan] = kernels::guarded_execution([&] { return execute(plan, inputs, outputs); });
    done->notify();
  }
  kernels::ExecuteStatus finish(PlanInstance& plan) override {
    return executed_.extract(&plan).mapped();
  }

 private:
  /// Only running a graph shows that it would always fail. A submitted dispatch failed at its end.
  std::optional<Error> strike() const {
    if (at_->call == nullptr || at_->call->inherent || submits()) return std::nullopt;
    return at_->call->fault;
  }
  const std::shared_ptr<const AtWork> at_;
  std::map<const PlanInstance*, kernels::ExecuteStatus> executed_;
};

}  // namespace

std::shared_ptr<kernels::Backend> make_backend(std::shared_ptr<const AtWork> at,
                                               std::shared_ptr<kernels::Backend> inner) {
  if (!inner) inner = std::make_shared<SizesBackend>();
  return std::make_shared<ReplayBackend>(std::move(at), std::move(inner));
}

}  // namespace polychron::replay
