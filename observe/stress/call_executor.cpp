#include "observe/stress/call_executor.hpp"

#include <algorithm>
#include <cstring>

#include "observe/stress/symbolic_graph.hpp"
#include "runtime/builder_bridge.hpp"

namespace polychron::stress {

namespace {

template <class T, class Tell>
Answer answer_of(Result<T>& result, Tell& tell) {
  Answer answer;
  if (result)
    tell(result, answer);
  else
    answer.error = result.error();
  // These bring lent buffers back with their results, and in no other way.
  if constexpr (std::is_same_v<T, ReadResult> || std::is_same_v<T, ComputeResult>)
    answer.kept |= !result;
  return answer;
}

template <class T, class Tell>
class ReplyOf final : public Reply {
 public:
  ReplyOf(Future<T> future, Tell tell) : future_(std::move(future)), tell_(std::move(tell)) {}
  bool ready() const override { return future_.ready(); }
  Answer take() override {
    auto result = future_.take();
    return answer_of(result, tell_);
  }

 private:
  Future<T> future_;
  Tell tell_;
};

/// Keeps what a callback has heard.
template <class T, class Tell>
class ReplyHeard final : public Reply {
 public:
  ReplyHeard(Future<T> future, Tell tell, std::function<void()> next) : tell_(std::move(tell)) {
    future.then([heard = heard_, next = std::move(next)](Result<T> result) {
      heard->emplace(std::move(result));
      next();
    });
  }
  bool ready() const override { return heard_->has_value(); }
  Answer take() override { return answer_of(**heard_, tell_); }

 private:
  const std::shared_ptr<std::optional<Result<T>>> heard_ =
      std::make_shared<std::optional<Result<T>>>();
  Tell tell_;
};

std::uint64_t value_in(const Buffer& bytes) { return bytes.as<std::uint64_t>()[0]; }
bool is_whole(const Buffer& bytes) {
  return !bytes.detached() && bytes.size() == sizeof(std::uint64_t);
}
/// Checks buffers that a compute was lent, or would have been: nobody has taken or changed them.
bool are_whole(const NamedBuffers& inputs, const NamedBuffers& outputs, std::uint64_t value) {
  return std::ranges::all_of(inputs,
                             [&](const auto& input) {
                               return is_whole(input.second) && value_in(input.second) == value++;
                             }) &&
         std::ranges::all_of(outputs, [](const auto& output) { return is_whole(output.second); });
}

Buffer buffer_of(std::uint64_t value) {
  return Buffer::copy_of(std::span<const std::uint64_t>(&value, 1));
}

}  // namespace

std::shared_ptr<const ops::Graph> graph_for(const Program& program, const std::string& label,
                                            std::size_t inputs) {
  return program.backend == Computes::real ? computed_graph(label, inputs)
                                           : symbolic_graph(label, inputs);
}

template <class Is>
bool CallExecutor::of_its_tensors(Is is) const {
  switch (call_.kind) {
    case Kind::write:
    case Kind::read:
    case Kind::query:
    case Kind::lend:
    case Kind::destroy_tensor:
      return is(subject_.slots[call_.tensor]);
    case Kind::dispatch:
      return is(subject_.slots[call_.tensor]) && std::ranges::all_of(call_.inputs, [&](auto input) {
               return is(subject_.slots[input]);
             });
    default:
      return true;
  }
}

bool CallExecutor::ready() const {
  if (call_.kind == Kind::give_back) {
    const auto* const lent = first_lent();
    return lent == nullptr || !lent->future || lent->future->ready();
  }
  return of_its_tensors([](const auto& slot) { return slot.tensor || slot.failed; });
}

void CallExecutor::note_touches() const {
  auto& footprints = *subject_.footprints;
  if (call_.kind == Kind::give_back) footprints.touch(Part::leases, 0);
  // A handle knows at once that it was destroyed.
  if (call_.kind == Kind::destroy_context) footprints.touch(Part::everything, 0);
  if (call_.kind == Kind::dispatch || call_.kind == Kind::compute ||
      call_.kind == Kind::destroy_graph)
    footprints.touch(Part::handle, call_.graph, call_.kind == Kind::destroy_graph);
  static_cast<void>(of_its_tensors([&](const auto& slot) {
    const auto number = static_cast<std::uint64_t>(&slot - subject_.slots.data());
    footprints.touch(Part::slot, number, call_.kind == Kind::destroy_tensor);
    return true;
  }));
}

void CallExecutor::execute(std::function<void()> next) {
  if (subject_.footprints != nullptr) note_touches();
  if (!possible()) return;
  label_ = label_of(client_, index_);
  next_ = std::move(next);
  auto& making = subject_.making[caller_];
  making = {};
  making.made.client = client_, making.made.index = index_, making.made.call = call_;
  try {
    carry_out();
  } catch (const Error& error) {
    subject_.enter(caller_).thrown = error;
    const auto& program = subject_.program;
    // A refused caller reports the refusal. Meanwhile other steps may run and end operations.
    const bool at_once = program.blocks || !program.interrupts;
    if (error.root().kind() == ErrorKind::quota_exceeded && at_once && !program.few_bytes() &&
        subject_.context.stats().in_flight < program.max_in_flight)
      subject_.history.broken = label_ + " was turned away, and a place is free: " + error.what();
  } catch (const std::exception& error) {
    subject_.history.broken = label_ + " threw " + error.what();
  }
  if (call_.kind == Kind::destroy_tensor || call_.kind == Kind::destroy_graph ||
      call_.kind == Kind::destroy_context || call_.kind == Kind::cancel)
    subject_.enter(caller_);
  subject_.making.erase(caller_);
}

Subject::Lent* CallExecutor::first_lent() const {
  for (auto& lent : subject_.lents)
    if (lent.client == client_ && lent.tensor == call_.tensor && !lent.ended) return &lent;
  return nullptr;
}

bool CallExecutor::possible() const {
  if (call_.kind == Kind::give_back) return first_lent() != nullptr;
  return of_its_tensors([](const auto& slot) { return slot.tensor.has_value(); });
}

template <class T, class Tell>
void CallExecutor::expect(Future<T> future, Tell tell) {
  const auto made = subject_.place_of(caller_);
  subject_.history.calls[made].has_reply = true;
  std::unique_ptr<Reply> reply;
  if (next_)
    reply =
        std::make_unique<ReplyHeard<T, Tell>>(std::move(future), std::move(tell), std::move(next_));
  else
    reply = std::make_unique<ReplyOf<T, Tell>>(std::move(future), std::move(tell));
  subject_.replies.push_back({made, std::move(reply)});
}

template <class Options>
Options CallExecutor::conditions() const {
  Options options;
  options.label = label_;
  if (call_.deadline != 0)
    options.deadline = msg::Clock::time_point() + std::chrono::milliseconds(call_.deadline);
  if (call_.cancellation != 0) options.cancellation = subject_.cancellations[call_.cancellation];
  return options;
}

Subject& CallExecutor::other() const {
  return *run_state_.subjects[(call_.context + 1) % run_state_.subjects.size()];
}

const Tensor& CallExecutor::tensor(std::size_t slot, bool foreign) const {
  // The tensors that a context begins with exist, even if somebody destroyed them.
  if (foreign) return *other().slots[slot % other().program.tensors].tensor;
  return *subject_.slots[slot].tensor;
}

const Graph& CallExecutor::graph(bool foreign) const {
  return (foreign ? other() : subject_).graphs[call_.graph];
}

void CallExecutor::create(Future<Tensor> future) {
  expect(std::move(future),
         [&slots = subject_.slots, slot = call_.tensor](Result<Tensor>& result, Answer&) {
           slots[slot].tensor = std::move(result).value();
         });
}

void CallExecutor::carry_out() {
  auto& context = subject_.context;
  const auto nothing = [](auto&, Answer&) {};
  switch (call_.kind) {
    case Kind::create: {
      auto descriptor = value_descriptor;
      descriptor.label = label_;
      return create(context.create_tensor(descriptor));
    }
    case Kind::constant:
      return create(
          context.create_constant_tensor(value_descriptor, buffer_of(call_.value), label_));
    case Kind::write: {
      const auto options = conditions<WriteOptions>();
      const auto& target = tensor(call_.tensor, call_.foreign);
      if (call_.way == 1)
        move_in(target, options);
      else
        context.write_tensor(target, std::vector{call_.value}, options);
      return;
    }
    case Kind::dispatch:
      return dispatch();
    case Kind::compute:
      return compute();
    case Kind::read:
      return read();
    case Kind::query:
      return expect(tensor(call_.tensor, false).error(),
                    [](auto& result, Answer& answer) { answer.found = result.value(); });
    case Kind::lend: {
      auto future = context.export_tensor(tensor(call_.tensor, call_.foreign),
                                          call_.way == 1 ? LeaseMode::fail : LeaseMode::wait);
      const auto made = subject_.place_of(caller_);
      subject_.history.calls[made].has_reply = true;
      subject_.lents.push_back({client_, call_.tensor, made, std::move(future), {}});
      return;
    }
    case Kind::give_back:
      return give_back();
    case Kind::push_scope:
      context.push_error_scope(static_cast<ErrorFilter>(call_.way));
      return;
    case Kind::pop_scope:
      return expect(context.pop_error_scope(),
                    [](auto& result, Answer& answer) { answer.found = result.value(); });
    case Kind::pending:
      return expect(context.pending(), nothing);
    case Kind::cancel:
      return subject_.cancellations[call_.cancellation].cancel();
    case Kind::destroy_tensor:
      subject_.slots[call_.tensor].destroyed = true;
      return subject_.slots[call_.tensor].tensor->destroy();
    case Kind::build:
      return expect(detail::submit_build(context, graph_for(subject_.program, label_, 1), {label_}),
                    nothing);
    case Kind::destroy_graph:
      return subject_.graphs[call_.graph].destroy();
    case Kind::destroy_context:
      context.destroy();
      subject_.checks->ended = true;
      return;
  }
}

void CallExecutor::move_in(const Tensor& target, const WriteOptions& options) {
  auto bytes = buffer_of(call_.value);
  try {
    subject_.context.write_tensor(target, std::move(bytes), options);
  } catch (const Error&) {
    if (!is_whole(bytes) || value_in(bytes) != call_.value)
      subject_.history.broken = label_ + " threw, and its caller's buffer is gone";
    throw;
  }
  if (!bytes.detached()) subject_.history.broken = label_ + " left its buffer with its caller";
}

void CallExecutor::dispatch() {
  const auto foreign = [this](unsigned operand) { return call_.foreign && call_.way == operand; };
  NamedTensors inputs;
  for (const auto input : call_.inputs)
    inputs.emplace_back("in" + std::to_string(inputs.size()),
                        tensor(input, foreign(1) && inputs.empty()));
  subject_.context.dispatch(graph(foreign(2)), inputs, {{"out", tensor(call_.tensor, foreign(0))}},
                            conditions<DispatchOptions>());
}

void CallExecutor::compute() {
  NamedBuffers inputs, outputs;
  for (std::size_t i = 0; i <= call_.graph; ++i)
    inputs.emplace_back("in" + std::to_string(i), buffer_of(call_.value + i));
  outputs.emplace_back("out", Buffer(sizeof(std::uint64_t)));
  Future<ComputeResult> future;
  try {
    future = subject_.context.compute(graph(call_.foreign), std::move(inputs), std::move(outputs),
                                      conditions<DispatchOptions>());
  } catch (const Error&) {
    if (!are_whole(inputs, outputs, call_.value))
      subject_.history.broken = label_ + " threw, and its caller's buffers are gone";
    throw;
  }
  return expect(std::move(future),
                [value = call_.value](Result<ComputeResult>& result, Answer& answer) {
                  answer.kept = !are_whole(result->inputs, result->outputs, value);
                  if (!result->status)
                    answer.error = result->status.error();
                  else if (!answer.kept)
                    answer.value = value_in(result->outputs.at(0).second);
                });
}

void CallExecutor::give_back() {
  auto& lent = *first_lent();
  lent.ended = true;
  subject_.making[caller_].made.lent = lent.made;
  settle(subject_, lent);
  if (!lent.lease) return;
  if (call_.value != 0 && !lent.lease->revoked()) {
    const std::uint64_t value = call_.value;
    std::memcpy(lent.lease->bytes().data(), &value, sizeof value);
  }
  lent.lease->return_now();
  subject_.enter(caller_);
}

void CallExecutor::read() {
  auto& context = subject_.context;
  const auto& source = tensor(call_.tensor, call_.foreign);
  if (call_.way == 0)
    return expect(context.read_tensor(source),
                  [](Result<Buffer>& result, Answer& answer) { answer.value = value_in(*result); });
  if (call_.way == 1)
    return expect(context.read_tensor(source, Buffer(sizeof(std::uint64_t))),
                  [](Result<ReadResult>& result, Answer& answer) {
                    answer.kept = !is_whole(result->buffer);
                    if (!result->status)
                      answer.error = result->status.error();
                    else if (!answer.kept)
                      answer.value = value_in(result->buffer);
                  });
  auto& memory = subject_.borrowed.emplace_back();
  expect(context.read_tensor(source, std::as_writable_bytes(std::span(&memory, 1))),
         [&memory](Result<void>&, Answer& answer) { answer.value = memory; });
}

void CallExecutor::settle(Subject& subject, Subject::Lent& lent) {
  if (!lent.future) return;
  auto result = lent.future->take();
  lent.future.reset();
  Answer answer;
  if (result) {
    lent.lease = std::move(result).value();
    lent.lease->on_revoked([told = lent.told] { ++*told; });
  } else {
    answer.error = result.error();
  }
  subject.history.calls[lent.made].answer = answer;
}

}  // namespace polychron::stress
