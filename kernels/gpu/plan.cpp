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
  for (const std::size_t bytes : plan_->rooms) rooms_.emplace_back(*plan_->gpu, bytes);
  if (plan_->scratch != 0) scratch_.emplace(*plan_->gpu, plan_->scratch);
  const auto made = [](auto result) {
    if (!result) throw result.error();
    return std::move(result).value();
  };
  for (const std::size_t bytes : plan_->host_values)
    host_values_.push_back(made(plan_->host->allocate(bytes)));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const auto& work = plan_->steps[i].work;
    if (const auto* const kernel = std::get_if<RunKernel>(&work)) bind(*kernel, steps_[i].kernel);
    if (const auto* const part = std::get_if<RunOnHost>(&work)) {
      HostPart& host = steps_[i].host;
      host.instance = made(plan_->host->instantiate(part->plan, options));
      for (const auto value : part->inputs) host.inputs.push_back(host_values_[value].get());
      for (const auto value : part->outputs) host.outputs.push_back(host_values_[value].get());
    }
  }
}

DeviceMemory& GpuInstance::memory(const Place& place) {
  ensure(place.kind != Place::Kind::none, "a value has a place on the device");
  switch (place.kind) {
    case Place::Kind::room:
      return rooms_[place.index];
    case Place::Kind::input:
    case Place::Kind::output:
      return tensor(place)->memory();
    case Place::Kind::constant:  // copies and primitives only read it
      return const_cast<DeviceMemory&>(plan_->constants_of_steps[place.index]->memory);
    case Place::Kind::none:
      break;
  }
  throw Error(ErrorKind::internal, "a value without a place");
}

GpuStorage* GpuInstance::tensor(const Place& place) const {
  return tensors_[place.index + (place.kind == Place::Kind::output ? plan_->input_count : 0)];
}

std::byte* GpuInstance::handle(const Place& place) {
  const bool is_tensor = place.kind == Place::Kind::input || place.kind == Place::Kind::output;
  const bool absent = place.kind == Place::Kind::none || (is_tensor && tensor(place) == nullptr);
  return absent ? nullptr : memory(place).handle();
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
    if (const auto* const run = std::get_if<RunKernel>(&plan_->steps[i].work)) {
      set_addresses(*run, steps_[i].kernel);
      steps_[i].kernel.bound->rebind();
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

void GpuInstance::let_go() noexcept {
  const auto whatever_happens = [](auto call) {
    try {
      call();
    } catch (...) {  // the device is gone, which the execution has said
    }
  };
  whatever_happens([&] { stream_.wait(); });
  std::fill(tensors_.begin(), tensors_.end(), nullptr);
  whatever_happens([&] { rebind(); });
}

std::span<std::byte> GpuInstance::host_bytes(std::size_t value) {
  auto bytes = plan_->host->map(*host_values_[value]);
  ensure(bytes.has_value(), "the host's own memory can be mapped");
  return *bytes;
}

ExecuteStatus GpuInstance::run(std::size_t index) {
  const auto& work = plan_->steps[index].work;
  BoundStep& step = steps_[index];
  if (std::holds_alternative<RunKernel>(work)) {
    step.kernel.bound->run();
  } else if (std::holds_alternative<RunOnHost>(work)) {
    return plan_->host->execute(*step.host.instance, step.host.inputs, step.host.outputs);
  } else if (const auto* const download = std::get_if<Download>(&work)) {
    memory(download->from).read(queue_, host_bytes(download->to));
  } else if (const auto* const upload = std::get_if<Upload>(&work)) {
    memory(upload->to).write(queue_, host_bytes(upload->from));
  } else {
    const auto& copy = std::get<Copy>(work);
    memory(copy.to).copy_from(queue_, memory(copy.from), copy.bytes);
  }
  return {};
}

template <class F>
void GpuInstance::attempt(const Step* const& step, const F& work) noexcept try {
  const auto failed = [&](const Error& error) {
    status_ = {error.with_operation("operator", step ? step->label : ""), false};
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
  const Step* step = nullptr;
  attempt(step, [&] {
    take(inputs, outputs);
    using Clock = std::chrono::steady_clock;
    auto begin = seconds.empty() ? Clock::time_point() : Clock::now();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      step = &plan_->steps[i];
      if (status_ = run(i); !status_.result) return;
      if (seconds.empty()) continue;
      stream_.wait();
      const auto end = Clock::now();
      seconds[i] = std::chrono::duration<double>(end - std::exchange(begin, end)).count();
    }
  });
}

void GpuInstance::submit(std::span<Storage* const> inputs, std::span<Storage* const> outputs,
                         std::shared_ptr<Completion> done) noexcept {
  start(inputs, outputs, {});
  if (goes_well()) when_done(done);
  if (done) done->notify();  // nobody else will
}

void GpuInstance::when_done(std::shared_ptr<Completion>& done) noexcept {
  attempt(nullptr, [&] {
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
  if (goes_well())
    attempt(nullptr, [&] {
      stream_.wait();
      for (std::size_t i = plan_->input_count; i < tensors_.size(); ++i)
        tensors_[i]->computed(queue_);
    });
  let_go();
  if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
  return std::move(status_);
}

ExecuteStatus GpuInstance::execute(std::span<Storage* const> inputs,
                                   std::span<Storage* const> outputs, std::span<double> seconds) {
  start(inputs, outputs, seconds);
  return finish();
}

}  // namespace polychron::kernels::gpu
