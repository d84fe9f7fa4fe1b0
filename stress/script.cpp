#include "stress/script.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/builder_bridge.hpp"
#include "stress/symbolic_graph.hpp"

namespace polychron::stress {

namespace {

template <class T, class Tell>
class ReplyOf final : public Reply {
 public:
  ReplyOf(Future<T> future, Tell tell) : future_(std::move(future)), tell_(std::move(tell)) {}
  bool ready() const override { return future_.ready(); }
  Answer take() override {
    auto result = future_.take();
    Answer answer;
    if (result)
      tell_(result, answer);
    else
      answer.error = result.error();
    return answer;
  }

 private:
  Future<T> future_;
  Tell tell_;
};

std::uint64_t value_in(const Buffer& bytes) { return bytes.as<std::uint64_t>()[0]; }

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
bool Script::of_its_tensors(const Call& call, Is is) const {
  switch (call.kind) {
    case Kind::write:
    case Kind::read:
    case Kind::query:
    case Kind::lend:
    case Kind::destroy_tensor:
      return is(board_.slots[call.tensor]);
    case Kind::dispatch:
      return is(board_.slots[call.tensor]) &&
             std::ranges::all_of(call.inputs, [&](auto input) { return is(board_.slots[input]); });
    default:
      return true;
  }
}

bool Script::ready() const {
  if (done()) return false;
  const Call& call = calls()[at_];
  if (call.kind == Kind::give_back) {
    const auto* const lent = first_lent(call.tensor);
    return lent == nullptr || lent->lease || lent->future->ready();
  }
  return of_its_tensors(call, [](const auto& slot) { return slot.tensor || slot.failed; });
}

void Script::note_touches(const Call& call) const {
  auto& footprints = *board_.footprints;
  if (call.kind == Kind::give_back) footprints.touch(Part::leases, 0);
  if (call.kind == Kind::cancel || call.cancellation != 0) footprints.touch(Part::everything, 0);
  static_cast<void>(of_its_tensors(call, [&](const auto& slot) {
    footprints.touch(Part::slot, static_cast<std::uint64_t>(&slot - board_.slots.data()), false);
    return true;
  }));
}

void Script::step() {
  const std::size_t index = at_;
  const Call call = calls()[at_++];
  if (board_.footprints != nullptr) note_touches(call);
  if (!possible(call)) return;
  board_.present[number_].reset();
  auto& making = board_.making[number_];
  making = {};
  making.client = number_, making.index = index, making.call = call;
  try {
    make(call, label_of(number_, index));
  } catch (const Error& error) {
    board_.history.calls[board_.enter(number_)].thrown = error;
  } catch (const std::exception& error) {
    board_.history.broken = label_of(number_, index) + " threw " + error.what();
  }
  if (call.kind == Kind::destroy_tensor || call.kind == Kind::destroy_graph ||
      call.kind == Kind::destroy_context || call.kind == Kind::cancel)
    board_.enter(number_);
}

Board::Lent* Script::first_lent(std::size_t tensor) const {
  for (auto& lent : board_.lents)
    if (lent.client == number_ && lent.tensor == tensor && !lent.ended) return &lent;
  return nullptr;
}

bool Script::possible(const Call& call) const {
  if (call.kind == Kind::give_back) return first_lent(call.tensor) != nullptr;
  return of_its_tensors(call, [](const auto& slot) { return slot.tensor.has_value(); });
}

template <class T, class Tell>
void Script::expect(Future<T> future, Tell tell) {
  const auto made = board_.enter(number_);
  board_.history.calls[made].has_reply = true;
  board_.replies.push_back(
      {made, std::make_unique<ReplyOf<T, Tell>>(std::move(future), std::move(tell))});
}

template <class Options>
Options Script::conditions(const Call& call, const std::string& label) {
  Options options;
  options.label = label;
  if (call.deadline != 0)
    options.deadline = msg::Clock::time_point() + std::chrono::milliseconds(call.deadline);
  if (call.cancellation != 0) options.cancellation = board_.cancellations[call.cancellation];
  return options;
}

void Script::create(std::size_t slot, Future<Tensor> future) {
  expect(std::move(future), [&slots = board_.slots, slot](Result<Tensor>& result, Answer&) {
    slots[slot].tensor = std::move(result).value();
  });
}

void Script::make(const Call& call, const std::string& label) {
  auto& context = board_.context;
  const auto nothing = [](auto&, Answer&) {};
  const auto tensor = [&](std::size_t slot) -> Tensor& { return *board_.slots[slot].tensor; };
  switch (call.kind) {
    case Kind::create: {
      auto descriptor = value_descriptor;
      descriptor.label = label;
      return create(call.tensor, context.create_tensor(descriptor));
    }
    case Kind::constant:
      return create(call.tensor,
                    context.create_constant_tensor(value_descriptor, buffer_of(call.value), label));
    case Kind::write: {
      const auto options = conditions<WriteOptions>(call, label);
      if (call.way == 1)
        context.write_tensor(tensor(call.tensor), buffer_of(call.value), options);
      else
        context.write_tensor(tensor(call.tensor), std::vector{call.value}, options);
      return;
    }
    case Kind::dispatch: {
      NamedTensors inputs;
      for (const auto input : call.inputs)
        inputs.emplace_back("in" + std::to_string(inputs.size()), tensor(input));
      return context.dispatch(board_.graphs[call.graph], inputs, {{"out", tensor(call.tensor)}},
                              conditions<DispatchOptions>(call, label));
    }
    case Kind::compute:
      return compute(call, label);
    case Kind::read:
      return read(call);
    case Kind::query:
      return expect(tensor(call.tensor).error(),
                    [](auto& result, Answer& answer) { answer.found = result.value(); });
    case Kind::lend: {
      auto future = context.export_tensor(tensor(call.tensor),
                                          call.way == 1 ? LeaseMode::fail : LeaseMode::wait);
      const auto made = board_.enter(number_);
      board_.history.calls[made].has_reply = true;
      board_.lents.push_back({number_, call.tensor, made, std::move(future), {}});
      return;
    }
    case Kind::give_back:
      return give_back(call);
    case Kind::push_scope:
      context.push_error_scope(static_cast<ErrorFilter>(call.way));
      return;
    case Kind::pop_scope:
      return expect(context.pop_error_scope(),
                    [](auto& result, Answer& answer) { answer.found = result.value(); });
    case Kind::pending:
      return expect(context.pending(), nothing);
    case Kind::cancel:
      return board_.cancellations[call.cancellation].cancel();
    case Kind::destroy_tensor:
      board_.slots[call.tensor].destroyed = true;
      return tensor(call.tensor).destroy();
    case Kind::build:
      return expect(detail::submit_build(context, graph_for(*board_.program, label, 1), {label}),
                    nothing);
    case Kind::destroy_graph:
      return board_.graphs[call.graph].destroy();
    case Kind::destroy_context:
      context.destroy();
      board_.checks->ended = true;
      return;
  }
}

void Script::compute(const Call& call, const std::string& label) {
  NamedBuffers inputs, outputs;
  for (std::size_t i = 0; i <= call.graph; ++i)
    inputs.emplace_back("in" + std::to_string(i), buffer_of(call.value + i));
  outputs.emplace_back("out", Buffer(sizeof(std::uint64_t)));
  return expect(
      board_.context.compute(board_.graphs[call.graph], std::move(inputs), std::move(outputs),
                             conditions<DispatchOptions>(call, label)),
      [](Result<ComputeResult>& result, Answer& answer) {
        if (!result->status)
          answer.error = result->status.error();
        else
          answer.value = value_in(result->outputs.at(0).second);
      });
}

void Script::give_back(const Call& call) {
  auto& lent = *first_lent(call.tensor);
  lent.ended = true;
  board_.making[number_].lent = lent.made;
  settle(board_, lent);
  if (!lent.lease) return;
  if (call.value != 0 && !lent.lease->revoked()) {
    const std::uint64_t value = call.value;
    std::memcpy(lent.lease->bytes().data(), &value, sizeof value);
  }
  lent.lease->return_now();
  board_.enter(number_);
}

void Script::read(const Call& call) {
  auto& context = board_.context;
  const auto& tensor = *board_.slots[call.tensor].tensor;
  if (call.way == 0)
    return expect(context.read_tensor(tensor),
                  [](Result<Buffer>& result, Answer& answer) { answer.value = value_in(*result); });
  if (call.way == 1)
    return expect(context.read_tensor(tensor, Buffer(sizeof(std::uint64_t))),
                  [](Result<ReadResult>& result, Answer& answer) {
                    if (!result->status)
                      answer.error = result->status.error();
                    else
                      answer.value = value_in(result->buffer);
                  });
  auto& memory = board_.borrowed.emplace_back();
  expect(context.read_tensor(tensor, std::as_writable_bytes(std::span(&memory, 1))),
         [&memory](Result<void>&, Answer& answer) { answer.value = memory; });
}

void Script::settle(Board& board, Board::Lent& lent) {
  if (!lent.future) return;
  auto result = lent.future->take();
  lent.future.reset();
  Answer answer;
  if (result)
    lent.lease = std::move(result).value();
  else
    answer.error = result.error();
  board.history.calls[lent.made].answer = answer;
}

}  // namespace polychron::stress
