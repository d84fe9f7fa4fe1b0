#include "observe/stress/symbolic_backend.hpp"

#include <cassert>
#include <cstring>

namespace polychron::stress {

namespace {

struct SymbolicStorage : kernels::Storage {
  SymbolicStorage(std::size_t size, std::uint64_t v) : count(size), value(v) {}
  std::size_t bytes() const noexcept override { return count; }
  std::size_t count;
  std::uint64_t value;
};

struct SymbolicPlan : kernels::Plan {
  SymbolicPlan(std::string graph, std::size_t size) : label(std::move(graph)), bytes(size) {}
  std::size_t arena_bytes() const noexcept override { return bytes; }
  std::size_t constant_bytes() const noexcept override { return bytes; }
  std::vector<std::string> describe() const override { return {"symbolic " + label}; }
  std::string label;
  std::size_t bytes;
};

struct SymbolicInstance : kernels::PlanInstance {
  explicit SymbolicInstance(std::shared_ptr<const kernels::Plan> p) : plan(std::move(p)) {}
  std::shared_ptr<const kernels::Plan> plan;
};

SymbolicStorage& symbolic(kernels::Storage& storage) {
  return dynamic_cast<SymbolicStorage&>(storage);
}

std::uint64_t value_of(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

Result<std::unique_ptr<kernels::Storage>> SymbolicBackend::allocate(std::size_t bytes) {
  assert(bytes >= sizeof(std::uint64_t));
  return std::unique_ptr<kernels::Storage>(std::make_unique<SymbolicStorage>(bytes, 0));
}

Result<std::unique_ptr<kernels::Storage>> SymbolicBackend::adopt(Buffer&& bytes) {
  auto storage = std::make_unique<SymbolicStorage>(bytes.size(), value_of(bytes.bytes()));
  static_cast<void>(Buffer(std::move(bytes)));
  return std::unique_ptr<kernels::Storage>(std::move(storage));
}

Result<std::span<std::byte>> SymbolicBackend::map(kernels::Storage& storage) {
  return std::as_writable_bytes(std::span(&symbolic(storage).value, 1));
}

Result<Buffer> SymbolicBackend::surrender(std::unique_ptr<kernels::Storage> storage) {
  auto bytes = Buffer::uninitialized(storage->bytes());
  const auto status = read(*storage, bytes.bytes());
  if (!status) return status.error();
  return bytes;
}

Result<void> SymbolicBackend::write(kernels::Storage& storage, std::span<const std::byte> bytes) {
  symbolic(storage).value = value_of(bytes);
  return {};
}

Result<void> SymbolicBackend::read(const kernels::Storage& storage, std::span<std::byte> bytes) {
  const auto value = dynamic_cast<const SymbolicStorage&>(storage).value;
  std::memset(bytes.data(), 0, bytes.size());
  std::memcpy(bytes.data(), &value, sizeof value);
  return {};
}

Result<std::shared_ptr<kernels::Plan>> SymbolicBackend::compile(
    std::shared_ptr<const ops::Graph> graph) {
  return std::shared_ptr<kernels::Plan>(std::make_shared<SymbolicPlan>(graph->label, plan_bytes_));
}

Result<std::unique_ptr<kernels::PlanInstance>> SymbolicBackend::instantiate(
    std::shared_ptr<const kernels::Plan> plan, const kernels::InstanceOptions&) {
  return std::unique_ptr<kernels::PlanInstance>(
      std::make_unique<SymbolicInstance>(std::move(plan)));
}

kernels::ExecuteStatus SymbolicBackend::execute(kernels::PlanInstance& plan,
                                                std::span<kernels::Storage* const> inputs,
                                                std::span<kernels::Storage* const> outputs) {
  const auto& instance = dynamic_cast<const SymbolicInstance&>(plan);
  const auto& label = dynamic_cast<const SymbolicPlan&>(*instance.plan).label;
  std::vector<std::uint64_t> values;
  for (auto* input : inputs) values.push_back(symbolic(*input).value);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    symbolic(*outputs[i]).value = symbolic_result(label, i, values);
  return {Result<void>(), false};
}

}  // namespace polychron::stress
