#include "kernels/gpu/plan.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/invariant.hpp"

namespace polychron::kernels::gpu {

std::vector<std::string> GpuPlan::describe() const {
  std::vector<std::string> lines;
  for (const Step& step : steps) lines.push_back(step.text);
  return lines;
}

std::vector<std::string> GpuPlan::labels() const {
  std::vector<std::string> labels;
  for (const Step& step : steps) labels.push_back(step.label);
  return labels;
}

GpuInstance::GpuInstance(std::shared_ptr<const GpuPlan> plan, const InstanceOptions& options)
    : plan_(std::move(plan)),
      stream_(plan_->gpu->engine),
      queue_(queue_of(stream_)),
      steps_(plan_->steps.size()),
      tensors_(plan_->input_count + plan_->output_count) {
  for (const std::size_t bytes : plan_->buffers) buffers_.emplace_back(*plan_->gpu, bytes);
  if (plan_->scratch != 0) scratch_.emplace(*plan_->gpu, plan_->scratch);
  const auto made = [](auto result) {
    if (!result) throw result.error();
    return std::move(result).value();
  };
  for (const std::size_t bytes : plan_->host_values)
    host_values_.push_back(made(plan_->host->allocate(bytes)));
  for (std::size_t i = 0; i < steps_.size(); ++i)
    std::visit(
        Overloaded{[&](const RunKernel& kernel) { bind(kernel, steps_[i].emplace<BoundKernel>()); },
                   [&](const RunOnHost& part) {
                     auto& host = steps_[i].emplace<HostPart>();
                     host.instance = made(plan_->host->instantiate(part.plan, options));
                     for (const auto value : part.inputs)
                       host.inputs.push_back(host_values_[value].get());
                     for (const auto value : part.outputs)
                       host.outputs.push_back(host_values_[value].get());
                   },
                   [](const Download&) {}, [](const Upload&) {}, [](const Copy&) {}},
        plan_->steps[i].work);
}

DeviceMemory& GpuInstance::memory(const Location& location) {
  ensure(location.kind != Location::Kind::none, "a value has a location on the device");
  switch (location.kind) {
    case Location::Kind::buffer:
      return buffers_[location.index];
    case Location::Kind::input:
    case Location::Kind::output:
      return tensor(location)->memory();
    case Location::Kind::constant:  // copies and primitives only read it
      return const_cast<DeviceMemory&>(plan_->constants_of_steps[location.index]->memory);
    case Location::Kind::none:
      break;
  }
  throw Error(ErrorKind::internal, "a value without a location");
}

GpuStorage* GpuInstance::tensor(const Location& location) const {
  return tensors_[location.index +
                  (location.kind == Location::Kind::output ? plan_->input_count : 0)];
}

std::byte* GpuInstance::handle(const Location& location) {
  const bool is_tensor =
      location.kind == Location::Kind::input || location.kind == Location::Kind::output;
  const bool absent =
      location.kind == Location::Kind::none || (is_tensor && tensor(location) == nullptr);
  return absent ? nullptr : memory(location).handle();
}

void GpuInstance::set_addresses(const RunKernel& run, BoundKernel& bound) {
  for (std::size_t i = 0; i < run.inputs.size(); ++i) bound.inputs[i] = handle(run.inputs[i]);
  for (std::size_t i = 0; i < run.outputs.size(); ++i) bound.outputs[i] = handle(run.outputs[i]);
}

void GpuInstance::bind(const RunKernel& run, BoundKernel& bound) {
  bound.inputs.resize(run.inputs.size());
  bound.outputs.resize(run.outputs.size());
  set_addresses(run, bound);
  bound.arguments = {bound.inputs, bound.outputs, scratch_ ? scratch_->handle() : nullptr};
  bound.bound = run.kernel->bind_to(stream_, bound.arguments);
}

void GpuInstance::rebind() {
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (auto* const kernel = std::get_if<BoundKernel>(&steps_[i])) {
      set_addresses(std::get<RunKernel>(plan_->steps[i].work), *kernel);
      kernel->bound->rebind();
    }
}

void GpuInstance::take(std::span<Storage* const> inputs, std::span<Storage* const> outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tensors_[i] = static_cast<GpuStorage*>(inputs[i]);
    tensors_[i]->to_device(queue_);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    tensors_[inputs.size() + i] = static_cast<GpuStorage*>(outputs[i]);
  rebind();
}

void GpuInstance::release_tensors() noexcept {
  const auto best_effort = [](auto call) {
    try {
      call();
    } catch (...) {  // the device is gone, which the execution has said
    }
  };
  best_effort([&] { stream_.wait(); });
  std::fill(tensors_.begin(), tensors_.end(), nullptr);
  best_effort([&] { rebind(); });
}

std::span<std::byte> GpuInstance::host_bytes(std::size_t value) {
  auto bytes = plan_->host->map(*host_values_[value]);
  ensure(bytes.has_value(), "the host's own memory can be mapped");
  return *bytes;
}

ExecuteStatus GpuInstance::run(std::size_t index) {
  ExecuteStatus status;
  std::visit(
      Overloaded{
          [&](const RunKernel&) { std::get<BoundKernel>(steps_[index]).bound->run(); },
          [&](const RunOnHost&) {
            auto& host = std::get<HostPart>(steps_[index]);
            status = plan_->host->execute(*host.instance, host.inputs, host.outputs);
          },
          [&](const Download& download) {
            memory(download.from).read(queue_, host_bytes(download.to));
          },
          [&](const Upload& upload) { memory(upload.to).write(queue_, host_bytes(upload.from)); },
          [&](const Copy& copy) {
            memory(copy.to).copy_from(queue_, memory(copy.from), copy.bytes);
          }},
      plan_->steps[index].work);
  return status;
}

template <class F>
void GpuInstance::attempt(const std::string& label, const F& work) noexcept try {
  const auto failed = [&](const Error& error) {
    status_ = {error.with_operation("operator", label), false};
  };
  try {
    work();
  } catch (const std::bad_alloc&) {
    failed(Error(ErrorKind::out_of_memory, "no memory for a kernel"));
  } catch (const Error& error) {
    failed(of_device(error));
  } catch (const dnnl::error& error) {
    failed(of_device(error));
  }
} catch (...) {
  broken_ = std::current_exception();
}

void GpuInstance::start(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
                        std::span<double> seconds) noexcept {
  status_ = {};
  attempt("", [&] { take(inputs, outputs); });
  using Clock = std::chrono::steady_clock;
  auto begin = seconds.empty() ? Clock::time_point() : Clock::now();
  for (std::size_t i = 0; i < steps_.size() && ok(); ++i)
    attempt(plan_->steps[i].label, [&] {
      status_ = run(i);
      if (seconds.empty() || !status_.result) return;
      stream_.wait();
      const auto end = Clock::now();
      seconds[i] = std::chrono::duration<double>(end - std::exchange(begin, end)).count();
    });
}

void GpuInstance::submit(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
                         std::shared_ptr<Completion> done) noexcept {
  start(inputs, outputs, {});
  if (ok()) when_done(done);
  if (done) done->notify();  // nobody else will
}

void GpuInstance::when_done(std::shared_ptr<Completion>& done) noexcept {
  attempt("", [&] {
    auto to = std::make_unique<std::shared_ptr<Completion>>(done);
    cl_event end = nullptr;
    check(clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &end), "clEnqueueMarkerWithWaitList");
    // Before anybody counts on the end: what is not flushed may never be carried out.
    const auto flushed = clFlush(queue_);
    const auto told = flushed != CL_SUCCESS
                          ? flushed
                          : clSetEventCallback(
                                end, CL_COMPLETE,
                                [](cl_event, cl_int, void* whom) {
                                  const std::unique_ptr<std::shared_ptr<Completion>> completion(
                                      static_cast<std::shared_ptr<Completion>*>(whom));
                                  (*completion)->notify();
                                },
                                to.get());
    clReleaseEvent(end);
    check(told, flushed != CL_SUCCESS ? "clFlush" : "clSetEventCallback");
    static_cast<void>(to.release());
    done.reset();
  });
}

ExecuteStatus GpuInstance::finish() {
  if (ok())
    attempt("", [&] {
      stream_.wait();
      for (std::size_t i = plan_->input_count; i < tensors_.size(); ++i)
        tensors_[i]->computed(queue_);
    });
  release_tensors();
  if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
  return std::move(status_);
}

ExecuteStatus GpuInstance::execute(std::span<Storage* const> inputs,
                                   std::span<Storage* const> outputs, std::span<double> seconds) {
  start(inputs, outputs, seconds);
  return finish();
}

}  // namespace polychron::kernels::gpu
