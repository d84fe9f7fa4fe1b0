#include "observe/stress/fault_backend.hpp"

#include <stdexcept>

namespace polychron::stress {

void FaultPlan::fail(FaultPoint point, std::uint64_t nth, Fault fault) {
  const std::lock_guard lock(mutex_);
  auto& schedule = schedules_[point];
  schedule.at.emplace(schedule.calls + nth, fault);
}

void FaultPlan::fail_randomly(FaultPoint point, std::uint64_t seed, std::uint64_t one_in,
                              Fault fault) {
  const std::lock_guard lock(mutex_);
  auto& schedule = schedules_[point];
  schedule.one_in = one_in;
  schedule.random_fault = fault;
  schedule.random.seed(seed);
}

void FaultPlan::clear() {
  const std::lock_guard lock(mutex_);
  schedules_.clear();
}

std::optional<Fault> FaultPlan::next(FaultPoint point) {
  const std::lock_guard lock(mutex_);
  auto& schedule = schedules_[point];
  ++schedule.calls;
  if (const auto here = std::this_thread::get_id(); schedule.last_thread != here) {
    schedule.threads.insert(here);
    schedule.last_thread = here;
  }
  std::optional<Fault> fault = schedule.always;
  if (const auto due = schedule.at.find(schedule.calls); due != schedule.at.end()) {
    fault = due->second;
    if (fault->permanent) schedule.always = fault;
  }
  if (!fault && schedule.one_in != 0 && schedule.random() % schedule.one_in == 0)
    fault = schedule.random_fault;
  if (fault) ++injected_;
  return fault;
}

std::uint64_t FaultPlan::injected() const {
  const std::lock_guard lock(mutex_);
  return injected_;
}

std::uint64_t FaultPlan::calls(FaultPoint point) const {
  const std::lock_guard lock(mutex_);
  const auto schedule = schedules_.find(point);
  return schedule == schedules_.end() ? 0 : schedule->second.calls;
}

std::set<std::thread::id> FaultPlan::threads(FaultPoint point) const {
  const std::lock_guard lock(mutex_);
  const auto schedule = schedules_.find(point);
  return schedule == schedules_.end() ? std::set<std::thread::id>() : schedule->second.threads;
}

std::thread::id FaultPlan::last_thread(FaultPoint point) const {
  const std::lock_guard lock(mutex_);
  const auto schedule = schedules_.find(point);
  return schedule == schedules_.end() ? std::thread::id() : schedule->second.last_thread;
}

std::shared_ptr<kernels::Team> FaultPlan::last_team() const {
  const std::lock_guard lock(mutex_);
  return last_team_.lock();
}

void FaultPlan::note(const std::shared_ptr<kernels::Team>& team) {
  const std::lock_guard lock(mutex_);
  last_team_ = team;
}

std::optional<Error> FaultBackend::strike(FaultPoint point, bool* inherent) {
  const auto fault = faults_->next(point);
  if (!fault) return std::nullopt;
  if (fault->until) fault->until->wait();
  if (fault->throws) throw std::runtime_error("injected exception");
  if (inherent != nullptr) *inherent = fault->inherent;
  return Error(fault->kind, "injected fault").with_operation("operator", "faulty");
}

Result<std::unique_ptr<kernels::Storage>> FaultBackend::allocate(std::size_t bytes) {
  if (const auto error = strike(FaultPoint::allocate)) return *error;
  return inner().allocate(bytes);
}

Result<std::unique_ptr<kernels::Storage>> FaultBackend::adopt(Buffer&& bytes) {
  if (const auto error = strike(FaultPoint::adopt)) return *error;
  return inner().adopt(std::move(bytes));
}

Result<void> FaultBackend::read(const kernels::Storage& storage, std::span<std::byte> bytes) {
  if (const auto error = strike(FaultPoint::read)) return *error;
  return inner().read(storage, bytes);
}

Result<std::shared_ptr<kernels::Plan>> FaultBackend::compile(
    std::shared_ptr<const ops::Graph> graph) {
  if (const auto error = strike(FaultPoint::compile)) return *error;
  return inner().compile(std::move(graph));
}

Result<std::unique_ptr<kernels::PlanInstance>> FaultBackend::instantiate(
    std::shared_ptr<const kernels::Plan> plan, const kernels::InstanceOptions& options) {
  if (const auto error = strike(FaultPoint::instantiate)) return *error;
  faults_->note(options.team);
  return inner().instantiate(std::move(plan), options);
}

kernels::ExecuteStatus FaultBackend::execute(kernels::PlanInstance& plan,
                                             std::span<kernels::Storage* const> inputs,
                                             std::span<kernels::Storage* const> outputs) {
  bool inherent = false;
  if (const auto error = strike(FaultPoint::execute, &inherent)) return {*error, inherent};
  return inner().execute(plan, inputs, outputs);
}

kernels::ExecuteStatus FaultBackend::profile(kernels::PlanInstance& plan,
                                             std::span<kernels::Storage* const> inputs,
                                             std::span<kernels::Storage* const> outputs,
                                             std::span<double> seconds) {
  bool inherent = false;
  if (const auto error = strike(FaultPoint::execute, &inherent)) return {*error, inherent};
  return inner().profile(plan, inputs, outputs, seconds);
}

kernels::ExecuteStatus FaultBackend::finish(kernels::PlanInstance& plan) {
  auto status = inner().finish(plan);
  bool inherent = false;
  if (const auto error = strike(FaultPoint::execute, &inherent)) return {*error, inherent};
  return status;
}

}  // namespace polychron::stress
