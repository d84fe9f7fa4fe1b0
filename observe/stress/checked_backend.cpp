#include "observe/stress/checked_backend.hpp"

#include <algorithm>
#include <set>

namespace polychron::stress {

namespace {

/// Checks that readers share a storage and that a writer is alone.
class Watched final : public kernels::Storage {
 public:
  explicit Watched(std::shared_ptr<Checks> checks) : checks_(std::move(checks)) {}
  void hold(std::unique_ptr<kernels::Storage> of, bool adopted) {
    inner = std::move(of);
    bytes_ = inner->bytes();
    allocated_ = adopted ? 0 : bytes_;
    checks_->bytes += bytes_;
    checks_->allocated += allocated_;
    checks_->peak_allocated = std::max(checks_->peak_allocated, checks_->allocated);
  }
  ~Watched() override {
    checks_->bytes -= bytes_;
    checks_->allocated -= allocated_;
    if (readers_ > 0 || written_) complain("storage is freed while it is in use");
  }
  std::size_t bytes() const noexcept override { return bytes_; }

  void begin(bool writes) const {
    if (written_ || (writes && readers_ > 0)) complain("storage is used by two at once");
    writes ? void(written_ = true) : void(++readers_);
  }
  void end(bool writes) const { writes ? void(written_ = false) : void(--readers_); }

  std::unique_ptr<kernels::Storage> inner;

 private:
  void complain(const char* what) const {
    if (!checks_->broken) checks_->broken = what;
  }
  const std::shared_ptr<Checks> checks_;
  std::size_t bytes_ = 0, allocated_ = 0;
  mutable int readers_ = 0;
  mutable bool written_ = false;
};

/// The same plan. Its constants are counted while anybody holds it.
std::shared_ptr<kernels::Plan> counted(std::shared_ptr<kernels::Plan> plan,
                                       const std::shared_ptr<Checks>& checks) {
  checks->planned += plan->constant_bytes();
  auto* const same = plan.get();
  return {same, [plan = std::move(plan), checks](kernels::Plan*) {
            checks->planned -= plan->constant_bytes();
          }};
}

const Watched& watch(const kernels::Storage& storage) {
  return dynamic_cast<const Watched&>(storage);
}

/// Marks storages as used while it lives. At its beginning it lets other steps run.
class Use {
 public:
  explicit Use(Checks& checks) : checks_(checks) {
    if (checks.ended && !checks.broken) checks.broken = "something is carried out after the end";
  }
  void take(const kernels::Storage& storage, bool writes) {
    used_.emplace_back(&watch(storage), writes);
    used_.back().first->begin(writes);
  }
  void take_time() const {
    if (checks_.between) checks_.between();
  }
  ~Use() {
    for (const auto& [storage, writes] : used_) storage->end(writes);
  }

 private:
  Checks& checks_;
  std::vector<std::pair<const Watched*, bool>> used_;
};

/// The storages of an execution, marked as used while it lives.
struct Operands {
  Operands(Checks& checks, std::span<kernels::Storage* const> in,
           std::span<kernels::Storage* const> out)
      : use(std::make_unique<Use>(checks)) {
    for (auto* storage : in) {
      use->take(*storage, false);
      inputs.push_back(watch(*storage).inner.get());
    }
    for (auto* storage : out) {
      use->take(*storage, true);
      outputs.push_back(watch(*storage).inner.get());
    }
  }
  std::unique_ptr<Use> use;
  std::vector<kernels::Storage*> inputs, outputs;
};

/// An instance of a plan on one lane.
class WatchedInstance final : public kernels::PlanInstance {
 public:
  WatchedInstance(std::unique_ptr<kernels::PlanInstance> of, std::uint64_t arena,
                  std::shared_ptr<Checks> checks)
      : inner(std::move(of)), arena_(arena), checks_(std::move(checks)) {
    checks_->planned += arena_;
  }
  ~WatchedInstance() override { checks_->planned -= arena_; }
  const std::unique_ptr<kernels::PlanInstance> inner;
  bool hopeless = false;              ///< every later dispatch would fail as one did
  std::optional<Operands> submitted;  ///< what the device is at

 private:
  const std::uint64_t arena_;
  const std::shared_ptr<Checks> checks_;
};

WatchedInstance& runnable(kernels::PlanInstance& plan, Checks& checks) {
  auto& instance = dynamic_cast<WatchedInstance&>(plan);
  if (!checks.broken && instance.hopeless)
    checks.broken = "a plan runs again after it failed for good";
  if (!checks.broken && instance.submitted) checks.broken = "a plan runs while the device is at it";
  return instance;
}

kernels::ExecuteStatus noted(WatchedInstance& instance, kernels::ExecuteStatus status) {
  instance.hopeless |= !status.result && status.inherent;
  return status;
}

}  // namespace

template <class F>
Result<std::unique_ptr<kernels::Storage>> CheckedBackend::watched(F make, bool adopted) const {
  auto watched = std::make_unique<Watched>(checks_);  // first: adopt() may not fail later
  auto storage = make();
  if (!storage) return storage;
  watched->hold(std::move(storage).value(), adopted);
  return std::unique_ptr<kernels::Storage>(std::move(watched));
}

Result<std::unique_ptr<kernels::Storage>> CheckedBackend::allocate(std::size_t bytes) {
  return watched([&] { return inner().allocate(bytes); }, false);
}

Result<std::unique_ptr<kernels::Storage>> CheckedBackend::adopt(Buffer&& bytes) {
  return watched([&] { return inner().adopt(std::move(bytes)); }, true);
}

Result<std::span<std::byte>> CheckedBackend::map(kernels::Storage& storage) {
  return inner().map(*watch(storage).inner);
}

Result<Buffer> CheckedBackend::surrender(std::unique_ptr<kernels::Storage> storage) {
  return inner().surrender(std::move(dynamic_cast<Watched&>(*storage).inner));
}

Result<void> CheckedBackend::write(kernels::Storage& storage, std::span<const std::byte> bytes) {
  Use use(*checks_);
  use.take(storage, true);
  use.take_time();
  return inner().write(*watch(storage).inner, bytes);
}

Result<void> CheckedBackend::read(const kernels::Storage& storage, std::span<std::byte> bytes) {
  Use use(*checks_);
  use.take(storage, false);
  use.take_time();
  return inner().read(*watch(storage).inner, bytes);
}

Result<std::shared_ptr<kernels::Plan>> CheckedBackend::compile(
    std::shared_ptr<const ops::Graph> graph) {
  Use(*checks_).take_time();
  auto plan = inner().compile(std::move(graph));
  if (!plan) return plan;
  return counted(std::move(plan).value(), checks_);
}

Result<std::unique_ptr<kernels::PlanInstance>> CheckedBackend::instantiate(
    std::shared_ptr<const kernels::Plan> plan, const kernels::InstanceOptions& options) {
  const auto own_arena = options.arena ? 0 : plan->arena_bytes();
  auto instance = inner().instantiate(std::move(plan), options);
  if (!instance) return instance;
  if (options.arena) checks_->shared_arenas[options.arena.get()] = options.arena;
  return std::unique_ptr<kernels::PlanInstance>(
      std::make_unique<WatchedInstance>(std::move(instance).value(), own_arena, checks_));
}

kernels::ExecuteStatus CheckedBackend::execute(kernels::PlanInstance& plan,
                                               std::span<kernels::Storage* const> inputs,
                                               std::span<kernels::Storage* const> outputs) {
  return profile(plan, inputs, outputs, {});
}

kernels::ExecuteStatus CheckedBackend::profile(kernels::PlanInstance& plan,
                                               std::span<kernels::Storage* const> inputs,
                                               std::span<kernels::Storage* const> outputs,
                                               std::span<double> seconds) {
  auto& instance = runnable(plan, *checks_);
  const Operands operands(*checks_, inputs, outputs);
  operands.use->take_time();
  const auto &in = operands.inputs, &out = operands.outputs;
  return noted(instance, seconds.empty() ? inner().execute(*instance.inner, in, out)
                                         : inner().profile(*instance.inner, in, out, seconds));
}

void CheckedBackend::submit(kernels::PlanInstance& plan, std::span<kernels::Storage* const> inputs,
                            std::span<kernels::Storage* const> outputs,
                            std::shared_ptr<kernels::Completion> done) noexcept {
  auto& instance = runnable(plan, *checks_);
  instance.submitted.emplace(*checks_, inputs, outputs);
  inner().submit(*instance.inner, instance.submitted->inputs, instance.submitted->outputs,
                 std::move(done));
}

kernels::ExecuteStatus CheckedBackend::finish(kernels::PlanInstance& plan) {
  auto& instance = dynamic_cast<WatchedInstance&>(plan);
  auto status = inner().finish(*instance.inner);
  instance.submitted.reset();
  return noted(instance, std::move(status));
}

}  // namespace polychron::stress
