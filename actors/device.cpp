#include "actors/device.hpp"

#include <cassert>

namespace polychron::actors {

namespace {

/// Runs `call`; an exception (bad_alloc, a library's own) becomes a Result like any other failure.
template <class F>
auto guarded(F call) -> decltype(call()) {
  try {
    return call();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return Error(ErrorKind::operation_error, e.what());
  }
}

Error out_of_budget(const msg::Budget& budget, std::uint64_t bytes) {
  return Error(ErrorKind::out_of_memory,
               "out of memory, " + std::to_string(bytes) + " bytes asked, " +
                   std::to_string(budget.limit() - budget.used()) +
                   " bytes left of the context's " + std::to_string(budget.limit()));
}

}  // namespace

device_actor::behavior_type DeviceState::start(EnvironmentRef environment) {
  enter(std::move(environment), "device");
  return {
      [this](const msg::allocate& m) { arrive(m); },
      [this](const msg::write_bytes& m) { arrive(m); },
      [this](const msg::read_bytes& m) { arrive(m); },
      [this](const msg::release& m) { arrive(m); },
      [this](const msg::load& m) { arrive(m); },
      [this](const msg::execute& m) { arrive(m); },
      [this](const msg::fail& m) { arrive(m); },
      [this](const msg::release_plan& m) { arrive(m); },
      [this](const msg::skip& m) { arrive(m); },
  };
}

template <class M>
void DeviceState::arrive(const M& m) {
  assert(m.ticket >= next_);  // each ticket arrives once
  if (m.ticket != next_) {
    const bool added = early_.emplace(m.ticket, m).second;
    assert(added);
    static_cast<void>(added);
    return;
  }
  ++next_;
  carry_out(m);
  while (!early_.empty() && early_.begin()->first == next_) {
    const auto operation = early_.extract(early_.begin());
    ++next_;
    std::visit([this](const auto& op) { carry_out(op); }, operation.mapped());
  }
}

void DeviceState::carry_out(const msg::allocate& m) {
  auto& slot = **m.tensor;
  assert(!slot.storage);
  const auto& budget = environment().budget;
  auto reservation = msg::Reservation::take(budget, slot.bytes);
  auto result = guarded([&]() -> Result<void> {
    if (!reservation) return out_of_budget(*budget, slot.bytes);
    auto& backend = *environment().backend;
    auto storage =
        *m.initial ? backend.adopt(std::move(**m.initial)) : backend.allocate(slot.bytes);
    if (!storage) return storage.error();
    slot.storage = std::move(*storage);
    slot.reservation = std::move(*reservation);
    return {};
  });
  if (!result) {
    check_alive(result.error());
    result = result.error().with_operation("create_tensor", {}, m.ticket).with_object(slot.name());
  }
  tell(slot.actor, msg::allocated{std::move(result)});
}

void DeviceState::carry_out(const msg::write_bytes& m) {
  auto& slot = **m.tensor;
  if (!slot.storage) return;  // its creation was rejected
  assert(m.bytes->get()->size() == slot.bytes);
  auto storage = guarded([&] { return environment().backend->adopt(std::move(**m.bytes)); });
  if (storage) {
    slot.storage = std::move(*storage);
    clear_tag(slot, m.ticket);
  } else {
    check_alive(storage.error());
    set_tag(slot,
            storage.error().with_operation("write", m.label, m.ticket).with_object(slot.name()),
            m.ticket);
  }
}

void DeviceState::carry_out(const msg::read_bytes& m) {
  const auto& slot = **m.tensor;
  auto result = guarded([&]() -> Result<Buffer> {
    if (slot.tag) return Error(ErrorKind::operation_error, "").caused_by(*slot.tag);
    if (!slot.storage) return Error(ErrorKind::invalid_state, "the tensor has no memory");
    auto bytes = Buffer::uninitialized(slot.bytes);
    auto status = environment().backend->read(*slot.storage, bytes.bytes());
    if (!status) return status.error();
    return bytes;
  });
  if (!result) {
    check_alive(result.error());
    result = result.error().with_operation("read", {}, m.ticket).with_object(slot.name());
  }
  tell(slot.actor, msg::read_done{m.ticket, std::make_shared<Result<Buffer>>(std::move(result))});
}

void DeviceState::carry_out(const msg::release& m) {
  auto& slot = **m.tensor;
  slot.storage.reset();
  slot.reservation = {};
  slot.tag.reset();
  tell(std::exchange(slot.actor, nullptr), msg::released{});
}

void DeviceState::carry_out(const msg::load& m) {
  auto& slot = **m.graph;
  assert(slot.plan && slot.instances.empty());
  const auto& budget = environment().budget;
  const auto bytes = slot.plan->constant_bytes() + slot.plan->arena_bytes();
  auto reservation = msg::Reservation::take(budget, bytes);
  const auto result = guarded([&]() -> Result<void> {
    if (!reservation) return out_of_budget(*budget, bytes);
    auto instance = environment().backend->instantiate(slot.plan);
    if (!instance) return instance.error();
    slot.instances.push_back(std::move(*instance));
    slot.reservation = std::move(*reservation);
    return {};
  });
  if (!result) check_alive(result.error());
  tell(slot.actor, msg::loaded{result});
}

void DeviceState::carry_out(const msg::execute& m) {
  assert(!m.graph->get()->instances.empty());
  if (const auto error = errored_input(m)) {
    set_tags(*m.outputs, *error, m.ticket);
    return;
  }
  const auto status = execute_plan(m);
  if (status.result) {
    for (const auto& output : *m.outputs) clear_tag(*output, m.ticket);
    return;
  }
  check_alive(status.result.error());
  const auto error = status.result.error().operation().empty()
                         ? status.result.error().with_operation("dispatch", m.label, m.ticket)
                         : Error(ErrorKind::operation_error, "")
                               .with_operation("dispatch", m.label, m.ticket)
                               .caused_by(status.result.error());
  set_tags(*m.outputs, error, m.ticket);
  if (status.inherent)
    tell(m.graph->get()->actor, msg::invalidated{m.ticket, std::make_shared<const Error>(error)});
}

std::optional<Error> DeviceState::errored_input(const msg::execute& m) const {
  for (std::size_t i = 0; i < m.inputs->size(); ++i) {
    const auto& slot = *(*m.inputs)[i];
    if (!slot.tag) continue;
    const auto& input = m.graph->get()->inputs[i].first;
    return Error(ErrorKind::operation_error,
                 "input '" + input + "' (" + slot.name() + ") errored by")
        .with_operation("dispatch", m.label, m.ticket)
        .caused_by(*slot.tag)
        .not_run();
  }
  return std::nullopt;
}

kernels::ExecuteStatus DeviceState::execute_plan(const msg::execute& m) {
  input_storage_.clear();
  output_storage_.clear();
  for (const auto& slot : *m.inputs) input_storage_.push_back(slot->storage.get());
  for (const auto& slot : *m.outputs) output_storage_.push_back(slot->storage.get());
  try {
    return environment().backend->execute(*m.graph->get()->instances.front(), input_storage_,
                                          output_storage_);
  } catch (const std::exception& e) {
    return {Error(ErrorKind::operation_error, e.what())};
  }
}

void DeviceState::carry_out(const msg::fail& m) { set_tags(*m.outputs, **m.error, m.ticket); }

void DeviceState::carry_out(const msg::release_plan& m) {
  auto& slot = **m.graph;
  slot.instances.clear();
  slot.plan.reset();
  slot.reservation = {};
  tell(std::exchange(slot.actor, nullptr), msg::plan_released{});
}

void DeviceState::carry_out(const msg::skip&) {}

void DeviceState::set_tags(const msg::Tensors& tensors, const Error& error, msg::Ticket ticket) {
  for (const auto& tensor : tensors) set_tag(*tensor, error, ticket);
}

void DeviceState::set_tag(msg::TensorSlot& tensor, const Error& error, msg::Ticket ticket) {
  tensor.tag = error;
  tell(tensor.actor, msg::errored{ticket, std::make_shared<const Error>(error)});
}

void DeviceState::clear_tag(msg::TensorSlot& tensor, msg::Ticket ticket) {
  if (!tensor.tag) return;  // the common case says nothing
  tensor.tag.reset();
  tell(tensor.actor, msg::recovered{ticket});
}

void DeviceState::check_alive(const Error& error) {
  if (error.root().kind() == ErrorKind::context_lost)
    self()->quit(caf::make_error(caf::sec::runtime_error, std::string(error.what())));
}

}  // namespace polychron::actors
