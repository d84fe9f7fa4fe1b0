#include "stress/run.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/builder_bridge.hpp"
#include "stress/checked_backend.hpp"
#include "stress/model.hpp"
#include "stress/symbolic_backend.hpp"
#include "stress/world.hpp"

namespace polychron::stress {

namespace {

/// A reply that will tell what came of a call.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual bool ready() const = 0;
  virtual Answer take() = 0;
};

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

/// What all clients share.
struct Board {
  struct Slot {
    std::optional<Tensor> tensor;
    bool made = false;    ///< its creation was called
    bool failed = false;  ///< and there will be no tensor
    bool destroyed = false;
  };
  struct Lent {
    std::size_t client, tensor, made;
    std::optional<Future<TensorLease>> future;
    std::optional<TensorLease> lease;
    bool ended = false;
  };
  struct Waiting {
    std::size_t made;
    std::unique_ptr<Reply> reply;
  };

  World* world = nullptr;
  const Program* program = nullptr;
  std::shared_ptr<Checks> checks = std::make_shared<Checks>();
  Context context;
  std::vector<Graph> graphs;
  std::vector<Slot> slots;
  std::deque<Lent> lents;
  std::map<unsigned, Cancellation> cancellations;
  std::deque<Waiting> replies;
  std::deque<std::uint64_t> borrowed;  ///< memory of reads; stays where it is
  std::deque<Future<Graph>> builds;
  History history;
  std::set<MessagePair> pairs;
  std::size_t messages = 0;
  /// Tensors and graphs: how many began, and of how many the context heard that they have ended.
  std::size_t created = 0, gone = 0;

  /// Of each client, the number of its present call in `history`, once it is there.
  std::vector<std::optional<std::size_t>> present;
  std::vector<Made> making;

  std::size_t enter(std::size_t client) {
    auto& at = present[client];
    if (!at) {
      at = history.calls.size();
      history.calls.push_back(making[client]);
    }
    return *at;
  }
};

/// Sees every message, and lets others come between.
class Watcher final : public msg::Observer {
 public:
  explicit Watcher(std::shared_ptr<Board> board) : board_(std::move(board)) {}
  void started(msg::ActorId, const char* kind) noexcept override {
    const std::string_view name(kind);
    board_->created += name == "tensor" || name == "graph";
  }
  void ended(msg::ActorId) noexcept override {}
  void sent(msg::ActorId from, msg::ActorId, const msg::MessageView& message) noexcept override {
    const auto client = board_->world->client_at_work();
    board_->world->interrupt();
    if (from != 0 || !client || !std::holds_alternative<const msg::submit*>(message)) return;
    const auto& call = std::get<const msg::submit*>(message)->call;
    auto& made = board_->history.calls[board_->enter(*client)];
    made.submitted |= !std::holds_alternative<msg::Report>(call);
    made.time = static_cast<unsigned>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                          board_->world->now().time_since_epoch())
                                          .count());
  }
  void received(msg::ActorId by, const msg::MessageView& message) noexcept override {
    ++board_->messages;
    const auto kind = static_cast<std::uint32_t>(message.index() + 1);
    auto& last = last_[by];
    board_->pairs.insert(last * 64 + kind);
    last = kind;
    board_->gone += std::holds_alternative<const msg::tensor_gone*>(message) ||
                    std::holds_alternative<const msg::graph_gone*>(message);
  }
  void finished(msg::ActorId, const msg::MessageView&) noexcept override {}

 private:
  const std::shared_ptr<Board> board_;
  std::map<msg::ActorId, std::uint32_t> last_;
};

class Script final : public Client {
 public:
  Script(Board& board, std::size_t number) : board_(board), number_(number) {}

  bool done() const { return at_ == calls().size(); }
  bool ready() const override {
    if (done()) return false;
    const Call& call = calls()[at_];
    const auto there = [&](std::size_t slot) {
      const auto& s = board_.slots[slot];
      return s.tensor.has_value() || s.failed;
    };
    switch (call.kind) {
      case Kind::write:
      case Kind::read:
      case Kind::query:
      case Kind::lend:
      case Kind::destroy_tensor:
        return there(call.tensor);
      case Kind::dispatch:
        return there(call.tensor) && std::ranges::all_of(call.inputs, there);
      case Kind::give_back: {
        const auto* const lent = first_lent(call.tensor);
        return lent == nullptr || lent->lease || lent->future->ready();
      }
      default:
        return true;
    }
  }
  /// Nobody will make what it waits for.
  void skip() { ++at_; }

  void step() override {
    const std::size_t index = at_;
    const Call call = calls()[at_++];
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

 private:
  const std::vector<Call>& calls() const { return board_.program->clients[number_]; }

  Board::Lent* first_lent(std::size_t tensor) const {
    for (auto& lent : board_.lents)
      if (lent.client == number_ && lent.tensor == tensor && !lent.ended) return &lent;
    return nullptr;
  }
  bool possible(const Call& call) const {
    const auto lives = [&](std::size_t slot) { return board_.slots[slot].tensor.has_value(); };
    switch (call.kind) {
      case Kind::write:
      case Kind::read:
      case Kind::query:
      case Kind::lend:
      case Kind::destroy_tensor:
        return lives(call.tensor);
      case Kind::dispatch:
        return lives(call.tensor) && std::ranges::all_of(call.inputs, lives);
      case Kind::give_back:
        return first_lent(call.tensor) != nullptr;
      default:
        return true;
    }
  }

  template <class T, class Tell>
  void expect(Future<T> future, Tell tell) {
    const auto made = board_.enter(number_);
    board_.history.calls[made].has_reply = true;
    board_.replies.push_back(
        {made, std::make_unique<ReplyOf<T, Tell>>(std::move(future), std::move(tell))});
  }

  template <class Options>
  Options conditions(const Call& call, const std::string& label) {
    Options options;
    options.label = label;
    if (call.deadline != 0)
      options.deadline = msg::Clock::time_point() + std::chrono::milliseconds(call.deadline);
    if (call.cancellation != 0) options.cancellation = board_.cancellations[call.cancellation];
    return options;
  }

  /// A tensor that will be in `slot`.
  void create(std::size_t slot, Future<Tensor> future) {
    expect(std::move(future), [&slots = board_.slots, slot](Result<Tensor>& result, Answer&) {
      slots[slot].tensor = std::move(result).value();
    });
    board_.slots[slot].made = true;
  }

  void make(const Call& call, const std::string& label) {
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
        return create(call.tensor, context.create_constant_tensor(value_descriptor,
                                                                  buffer_of(call.value), label));
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
      case Kind::compute: {
        NamedBuffers inputs, outputs;
        for (std::size_t i = 0; i <= call.graph; ++i)
          inputs.emplace_back("in" + std::to_string(i), buffer_of(call.value + i));
        outputs.emplace_back("out", Buffer(sizeof(std::uint64_t)));
        return expect(context.compute(board_.graphs[call.graph], std::move(inputs),
                                      std::move(outputs), conditions<DispatchOptions>(call, label)),
                      [](Result<ComputeResult>& result, Answer& answer) {
                        if (!result->status)
                          answer.error = result->status.error();
                        else
                          answer.value = value_in(result->outputs.at(0).second);
                      });
      }
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
        board_.lents.push_back({number_, call.tensor, made, std::move(future), {}, false});
        return;
      }
      case Kind::give_back: {
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
        return;
      }
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
        return expect(detail::submit_build(context, symbolic_graph(label, 1), {label}), nothing);
      case Kind::destroy_graph:
        return board_.graphs[call.graph].destroy();
      case Kind::destroy_context:
        context.destroy();
        board_.checks->ended = true;
        return;
    }
  }

  void read(const Call& call) {
    auto& context = board_.context;
    const auto& tensor = *board_.slots[call.tensor].tensor;
    if (call.way == 0)
      return expect(context.read_tensor(tensor), [](Result<Buffer>& result, Answer& answer) {
        answer.value = value_in(*result);
      });
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

 public:
  /// Notes what came of an export that is settled.
  static void settle(Board& board, Board::Lent& lent) {
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

 private:
  Board& board_;
  const std::size_t number_;
  std::size_t at_ = 0;
};

/// Notes the replies that have come; with them, the tensors that were created.
void collect(Board& board, bool all) {
  for (auto& [made, reply] : board.replies) {
    auto& entry = board.history.calls[made];
    const bool creates = entry.call.kind == Kind::create || entry.call.kind == Kind::constant;
    if (!reply || !reply->ready() || (!all && !creates)) continue;
    entry.answer = reply->take();
    reply.reset();
    if (creates && entry.answer->error) board.slots[entry.call.tensor].failed = true;
  }
}

/// Simulated time moves when the strategy says so.
class ClockHand final : public Client {
 public:
  ClockHand(World& world, unsigned steps) : world_(world), left_(steps) {}
  bool ready() const override { return left_ > 0; }
  void step() override {
    --left_;
    world_.advance(std::chrono::milliseconds(1));
  }

 private:
  World& world_;
  unsigned left_;
};

unsigned latest_deadline(const Program& program) {
  unsigned latest = 0;
  for (const auto& client : program.clients)
    for (const auto& call : client) latest = std::max(latest, call.deadline);
  return latest;
}

void prepare(Board& board, World& world) {
  const auto& program = *board.program;
  ContextOptions options;
  options.lanes = program.lanes;
  options.max_in_flight = program.max_in_flight;
  options.admission = program.blocks ? AdmissionPolicy::block : AdmissionPolicy::fail;
  board.context = world.settle(world.runtime().create_context(options)).value();
  for (std::size_t i = 0; i < 2; ++i)
    board.graphs.push_back(world
                               .settle(detail::submit_build(
                                   board.context, symbolic_graph("g" + std::to_string(i), i + 1),
                                   {"g" + std::to_string(i)}))
                               .value());
  std::size_t slots = program.tensors;
  for (const auto& client : program.clients)
    for (const auto& call : client) slots = std::max(slots, call.tensor + 1);
  board.slots.resize(slots);
  for (std::size_t i = 0; i < program.tensors; ++i) {
    board.slots[i].tensor = world.settle(board.context.create_tensor(value_descriptor)).value();
    board.slots[i].made = true;
  }
  board.context.on_uncaptured_error(
      [&board](const Error& e) { board.history.uncaptured.push_back(e); });
  world.run();
  board.present.resize(program.clients.size() + 1);
  board.making.resize(program.clients.size() + 1);
}

/// What scopes that are still open have heard.
void close_scopes(Board& board, World& world) {
  while (!board.context.lost().ready()) {
    auto popped = board.context.pop_error_scope();
    world.run();
    if (!popped.ready()) return;
    const auto found = popped.take();
    if (!found) return;
    if (found.value()) board.history.left.push_back(*found.value());
  }
}

std::optional<std::string> at_rest(const Board& board) {
  const auto stats = board.context.stats();
  for (const auto& [made, reply] : board.replies)
    if (reply)
      return "the reply of " +
             label_of(board.history.calls[made].client, board.history.calls[made].index) +
             " never comes";
  for (const auto& lent : board.lents)
    if (lent.future) return "an export is never answered";
  if (stats.in_flight != 0) return "in_flight is " + std::to_string(stats.in_flight) + " at rest";
  return std::nullopt;
}

/// Destroys everything, and looks at what is left.
std::optional<std::string> end(Board& board, World& world) {
  for (auto& slot : board.slots) slot.tensor.reset();
  board.graphs.clear();
  world.run();
  auto stats = board.context.stats();
  const bool lives = board.context.lost().ready() == false;
  if (lives && stats.tensors != 0) return std::to_string(stats.tensors) + " tensors are left";
  if (lives && stats.graphs != 0) return std::to_string(stats.graphs) + " graphs are left";
  if (lives && stats.bytes != 0) return std::to_string(stats.bytes) + " bytes are left";
  if (lives && board.gone != board.created)
    return "the context heard of the end of " + std::to_string(board.gone) + " objects, of " +
           std::to_string(board.created);
  board.context.destroy();
  world.run();
  stats = board.context.stats();
  if (stats.bytes != 0) return std::to_string(stats.bytes) + " bytes are left at the end";
  if (stats.in_flight != 0) return std::to_string(stats.in_flight) + " places are lost at the end";
  board.context = {};
  world.run();
  for (const auto& remaining : world.census().present()) return remaining.actor + " stays";
  return std::nullopt;
}

/// Every operation that is pending is a lease.
bool nothing_but_leases(Future<std::vector<PendingOperation>> pending) {
  const auto list = pending.take();
  return list && std::ranges::all_of(list.value(), [](const auto& operation) {
           return operation.waits_for == "the end of the lease";
         });
}

/// Makes all calls, and returns the first thing that is wrong.
std::optional<std::string> carry_out(Board& board, World& world, Checks& checks) {
  const auto& program = *board.program;
  std::deque<Script> scripts;
  for (std::size_t i = 0; i < program.clients.size(); ++i) scripts.emplace_back(board, i);
  ClockHand hand(world, latest_deadline(program) + 1);
  std::vector<Client*> clients;
  for (auto& script : scripts) clients.push_back(&script);
  if (latest_deadline(program) > 0) clients.push_back(&hand);
  world.set_clients(clients, program.blocks && program.max_in_flight < 64);
  world.allow_interrupts(program.interrupts);
  const auto go_on = [&] {
    while (world.step()) collect(board, false);
  };
  go_on();
  // Whoever waits for what nobody makes goes without.
  for (auto& script : scripts)
    while (!script.done()) {
      script.skip();
      go_on();
    }
  world.allow_interrupts(false);
  // Whoever has a lease has no place: an operation in flight is one that has something to do.
  const bool all_answered =
      std::ranges::all_of(board.replies,
                          [](const auto& r) { return !r.reply || r.reply->ready(); }) &&
      std::ranges::all_of(board.lents,
                          [](const auto& l) { return !l.future || l.future->ready(); });
  auto pending = board.context.pending();
  world.run();
  const bool idle = all_answered && pending.ready() && nothing_but_leases(std::move(pending));
  if (idle && board.context.stats().in_flight != 0)
    return "in_flight is " + std::to_string(board.context.stats().in_flight) + " with leases only";
  // Leases that are still out go back, one after the other: another may wait for each.
  for (bool more = true; more;) {
    more = false;
    for (auto& lent : board.lents) {
      if (lent.future && lent.future->ready()) Script::settle(board, lent);
      if (!lent.lease) continue;
      if (board.slots[lent.tensor].destroyed && !lent.ended && !lent.lease->revoked())
        return "a lease of a destroyed tensor is not revoked";
      lent.lease.reset();
      more = true;
      world.run();
    }
  }
  world.set_clients({});
  if (world.exhausted()) return "it goes on for ever";
  collect(board, true);
  close_scopes(board, world);
  if (board.history.broken) return board.history.broken;
  if (checks.broken) return checks.broken;
  if (auto wrong = at_rest(board)) return wrong;
  if (auto wrong = check(program, board.history)) return wrong;
  board.lents.clear();
  board.replies.clear();
  if (auto wrong = end(board, world)) return wrong;
  return checks.broken;
}

}  // namespace

RunResult run(const Program& program, Strategy& strategy) {
  RunResult result;
  const auto board = std::make_shared<Board>();
  const auto faults = std::make_shared<FaultPlan>();
  const auto& checks = board->checks;
  World world(strategy, [&](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
    return std::shared_ptr<kernels::Backend>(std::make_shared<FaultBackend>(
        std::make_shared<CheckedBackend>(std::make_shared<SymbolicBackend>(), checks), faults));
  });
  board->world = &world;
  board->program = &program;
  world.observe(std::make_shared<Watcher>(board));
  prepare(*board, world);
  checks->between = [&world] { world.interrupt(); };
  for (const auto& fault : program.faults)
    faults->fail(fault.point, fault.nth,
                 {.kind = fault.kind, .inherent = fault.inherent, .throws = fault.throws});
  result.finding = carry_out(*board, world, *checks);
  result.schedule = world.schedule();
  result.pairs.assign(board->pairs.begin(), board->pairs.end());
  result.messages = board->messages;
  result.history = std::move(board->history);
  // The watcher has the board, and the context the watcher.
  board->lents.clear();
  board->replies.clear();
  board->slots.clear();
  board->graphs.clear();
  board->builds.clear();
  board->context = {};
  checks->between = nullptr;
  return result;
}

}  // namespace polychron::stress
