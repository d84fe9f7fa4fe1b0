#include "observe/stress/program.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace polychron::stress {

namespace {

bool may_be_foreign(Kind kind) {
  return kind == Kind::write || kind == Kind::dispatch || kind == Kind::compute ||
         kind == Kind::read || kind == Kind::lend;
}

/// Calls of this kind have a future as their reply.
bool may_be_chained(Kind kind) {
  return kind == Kind::create || kind == Kind::constant || kind == Kind::compute ||
         kind == Kind::read || kind == Kind::query || kind == Kind::pop_scope ||
         kind == Kind::pending || kind == Kind::build;
}

class Drawing {
 public:
  Drawing(std::uint64_t seed, const Swarm& swarm) : random_(seed), swarm_(swarm) {}

  Program draw() {
    Program program;
    program.backend = swarm_.backend;
    program.lanes = 1 + static_cast<int>(below(static_cast<std::size_t>(swarm_.lanes)));
    program.tensors = 2 + below(3);
    program.interrupts = below(2) == 0;
    program.blocks = below(3) != 0;
    program.max_in_flight = below(3) == 0 ? 1 + below(4) : enough_places;
    choose_kinds();
    if (crosses_) {
      program.lanes = std::max(program.lanes, std::min(2, swarm_.lanes));
      if (program.max_in_flight < 3) program.max_in_flight = enough_places;
    }
    if (!swarm_.faults.empty() && (below(2) == 0 || has_scopes_)) add_faults(program);
    tensors_ = program.tensors;
    const auto clients = 1 + below(swarm_.clients);
    const auto calls = 3 + below(std::max<std::size_t>(swarm_.calls, 4) - 3);
    program.clients.resize(clients);
    for (std::size_t i = 0; i < calls; ++i)
      program.clients[below(clients)].push_back(call(program));
    widen(program);
    return program;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  /// Draws the rare options, last, so that older programs stay as they were.
  void widen(Program& program) {
    if (below(6) == 0) program.spare_bytes = 8 * below(12);
    if (below(6) == 0) spread(program);
    if (below(6) == 0) chain(program);
    program.late = below(4) == 0;
  }

  /// Lets callbacks make calls, except returns of leases: these wait for the lease, and a callback
  /// cannot wait.
  void chain(Program& program) {
    for (auto& client : program.clients)
      for (std::size_t i = 0; i + 1 < client.size(); ++i)
        client[i].then = may_be_chained(client[i].kind) && client[i + 1].kind != Kind::give_back &&
                         below(2) == 0;
  }

  /// Distributes the calls over two contexts. Creations stay where they are.
  void spread(Program& program) {
    program.contexts = 2;
    for (auto& fault : program.faults) fault.context = below(2);
    std::map<std::size_t, std::size_t> owners;
    for (auto& client : program.clients)
      for (auto& call : client) {
        call.context = below(2);
        if (call.kind == Kind::create || call.kind == Kind::constant)
          owners[call.tensor] = call.context;
      }
    for (auto& client : program.clients)
      for (auto& call : client) {
        if (const auto owner = owners.find(call.tensor); owner != owners.end())
          call.context = owner->second;
        call.foreign = may_be_foreign(call.kind) && below(8) == 0;
        if (call.foreign && call.kind == Kind::dispatch) call.way = static_cast<unsigned>(below(3));
      }
  }

  /// Draws half of the kinds, the common ones more often.
  void choose_kinds() {
    constexpr std::array<std::pair<Kind, int>, kinds> weights{{{Kind::create, 2},
                                                               {Kind::constant, 1},
                                                               {Kind::write, 6},
                                                               {Kind::dispatch, 8},
                                                               {Kind::compute, 3},
                                                               {Kind::read, 6},
                                                               {Kind::query, 3},
                                                               {Kind::lend, 3},
                                                               {Kind::give_back, 3},
                                                               {Kind::push_scope, 2},
                                                               {Kind::pop_scope, 2},
                                                               {Kind::pending, 1},
                                                               {Kind::cancel, 2},
                                                               {Kind::destroy_tensor, 2},
                                                               {Kind::build, 1},
                                                               {Kind::destroy_graph, 1},
                                                               {Kind::destroy_context, 1}}};
    for (const auto& [kind, weight] : weights) {
      const bool always = kind == Kind::write || kind == Kind::dispatch || kind == Kind::read;
      if (!always && below(2) == 0) continue;
      for (int i = 0; i < weight; ++i) choices_.push_back(kind);
      // Kinds that belong together come together.
      if (kind == Kind::lend) choices_.insert(choices_.end(), 3, Kind::give_back);
      if (kind == Kind::push_scope) choices_.insert(choices_.end(), 2, Kind::pop_scope);
    }
    const auto chosen = [&](Kind kind) {
      return std::ranges::find(choices_, kind) != choices_.end();
    };
    has_scopes_ = chosen(Kind::push_scope);
    conditions_ = below(2) == 0 || has_scopes_;
    crosses_ = chosen(Kind::lend) && below(3) != 0;
  }

  void add_faults(Program& program) {
    constexpr std::array errors{ErrorKind::out_of_memory, ErrorKind::out_of_memory,
                                ErrorKind::operation_error, ErrorKind::context_lost};
    for (auto i = 1 + below(2); i > 0; --i) {
      PlannedFault fault;
      fault.point = swarm_.faults[below(swarm_.faults.size())];
      fault.nth = 1 + below(3);
      fault.kind = fault.point == FaultPoint::execute ? errors[below(errors.size())] : errors[0];
      fault.inherent = fault.point == FaultPoint::execute && below(4) == 0;
      fault.throws = below(4) == 0;
      program.faults.push_back(fault);
    }
  }

  Call call(const Program& program) {
    Call call;
    call.kind = choices_[below(choices_.size())];
    call.tensor = below(tensors_);
    call.value = 1 + below(1000);
    switch (call.kind) {
      case Kind::create:
      case Kind::constant:
        call.tensor = tensors_++;
        break;
      case Kind::write:
        call.way = static_cast<unsigned>(below(2));
        conditions(call);
        break;
      case Kind::dispatch: {
        call.graph = program.tensors > 2 ? below(2) : 0;
        while (call.inputs.size() <= call.graph) {
          const auto input = below(tensors_);
          if (input != call.tensor && std::ranges::find(call.inputs, input) == call.inputs.end())
            call.inputs.push_back(input);
        }
        conditions(call);
        break;
      }
      case Kind::compute:
        call.graph = below(2);
        conditions(call);
        break;
      case Kind::read:
      case Kind::push_scope:
        call.way = static_cast<unsigned>(below(3));
        break;
      case Kind::lend:
        call.way = below(3) == 0 ? 1 : 0;
        break;
      case Kind::give_back:
        call.value = below(2) * call.value;
        break;
      case Kind::cancel:
        call.cancellation = 1 + static_cast<unsigned>(below(2));
        break;
      case Kind::destroy_graph:
        call.graph = below(2);
        break;
      default:
        break;
    }
    return call;
  }

  void conditions(Call& call) {
    if (!conditions_) return;
    if (below(3) == 0) call.deadline = 1 + static_cast<unsigned>(below(5));
    if (below(3) == 0) call.cancellation = 1 + static_cast<unsigned>(below(2));
  }

  std::mt19937_64 random_;
  const Swarm swarm_;
  std::vector<Kind> choices_;
  bool conditions_ = false, crosses_ = false, has_scopes_ = false;
  std::size_t tensors_ = 0;
};

std::string conditions_of(const Call& call) {
  std::string text;
  if (call.deadline != 0) text += ", deadline " + std::to_string(call.deadline) + " ms";
  if (call.cancellation != 0) text += ", cancellation " + std::to_string(call.cancellation);
  return text;
}

}  // namespace

bool takes_bytes(Kind kind) {
  constexpr std::array all{Kind::create,  Kind::constant, Kind::write,
                           Kind::compute, Kind::dispatch, Kind::build};
  return std::ranges::find(all, kind) != all.end();
}

std::size_t Program::calls() const {
  std::size_t count = 0;
  for (const auto& client : clients) count += client.size();
  return count;
}

bool Program::may_lack_bytes() const {
  if (!few_bytes()) return false;
  // Only real kernels know how many bytes their plans take.
  if (backend == Computes::real) return true;
  constexpr std::uint64_t value = 8, plan = 16;
  // Each lane has an arena for each of the two graphs.
  auto bytes = 2 * plan * static_cast<std::uint64_t>(lanes);
  for (const auto& client : clients)
    for (const auto& call : client) {
      // The memory that a revoked lease keeps is allocated again.
      if (call.kind == Kind::create || call.kind == Kind::constant || call.kind == Kind::write ||
          call.kind == Kind::lend)
        bytes += value;
      if (call.kind == Kind::build) bytes += plan;
    }
  return bytes > spare_bytes;
}

bool Program::has(Kind kind) const {
  return std::ranges::any_of(clients, [&](const auto& calls) {
    return std::ranges::find(calls, kind, &Call::kind) != calls.end();
  });
}

Program random_program(std::uint64_t seed, const Swarm& swarm) {
  return Drawing(seed, swarm).draw();
}

Program part_of(const Program& program, std::size_t context) {
  Program part = program;
  if (program.contexts == 1) return part;
  part.contexts = 1;
  std::erase_if(part.faults, [&](const auto& fault) { return fault.context != context; });
  for (auto& calls : part.clients)
    std::erase_if(calls, [&](const auto& call) { return call.context != context; });
  return part;
}

std::string label_of(std::size_t client, std::size_t index) {
  return "c" + std::to_string(client) + "." + std::to_string(index);
}

std::string_view to_string(FaultPoint point) noexcept {
  constexpr std::array names{"allocation", "adoption",      "read",
                             "build",      "instantiation", "execution"};
  return names[static_cast<std::size_t>(point)];
}

namespace {

std::string in_its_context(const Call& call) {
  const auto t = "t" + std::to_string(call.tensor), g = "g" + std::to_string(call.graph);
  const auto value = std::to_string(call.value);
  constexpr std::array reads{"", " into a buffer", " into borrowed memory"};
  constexpr std::array filters{"validation", "out_of_memory", "internal"};
  switch (call.kind) {
    case Kind::create:
      return "create " + t;
    case Kind::constant:
      return "constant " + t + " = " + value;
    case Kind::write:
      return "write " + t + " = " + value + (call.way == 1 ? ", moved" : "") + conditions_of(call);
    case Kind::dispatch: {
      std::string text = "dispatch " + t + " = " + g + "(";
      for (const auto input : call.inputs)
        text += (text.back() == '(' ? "t" : ", t") + std::to_string(input);
      return text + ")" + conditions_of(call);
    }
    case Kind::compute:
      return "compute " + g + "(" + value + ")" + conditions_of(call);
    case Kind::read:
      return "read " + t + reads[call.way];
    case Kind::query:
      return "query " + t;
    case Kind::lend:
      return "lend " + t + (call.way == 1 ? ", others fail" : ", others wait");
    case Kind::give_back:
      return "give back " + t + (call.value != 0 ? " = " + value : "");
    case Kind::push_scope:
      return std::string("push scope, ") + filters[call.way];
    case Kind::pop_scope:
      return "pop scope";
    case Kind::pending:
      return "pending";
    case Kind::cancel:
      return "cancel " + std::to_string(call.cancellation);
    case Kind::destroy_tensor:
      return "destroy " + t;
    case Kind::build:
      return "build and destroy a graph";
    case Kind::destroy_graph:
      return "destroy " + g;
    case Kind::destroy_context:
      break;
  }
  return "destroy the context";
}

}  // namespace

std::string to_string(const Call& call) {
  auto text = in_its_context(call);
  if (call.context != 0) text = "x" + std::to_string(call.context) + ": " + text;
  if (call.then) text += ", whose callback makes the next call";
  if (!call.foreign) return text;
  constexpr std::array operands{"the output", "in0", "the graph"};
  return text + ", " +
         (call.kind == Kind::dispatch  ? operands[call.way]
          : call.kind == Kind::compute ? operands[2]
                                       : "the tensor") +
         " is another context's";
}

std::string to_string(const Program& program) {
  std::string text =
      (program.contexts > 1 ? std::to_string(program.contexts) + " contexts of " : "") +
      std::to_string(program.tensors) + " tensors, " + std::to_string(program.lanes) + " lanes, " +
      std::to_string(program.max_in_flight) + " places, " + (program.blocks ? "block" : "fail") +
      (program.few_bytes() ? ", " + std::to_string(program.spare_bytes) + " bytes to spare" : "") +
      (program.interrupts ? ", handlers are interrupted" : "") +
      (program.late ? ", the device works by itself" : "") +
      (program.backend == Computes::real ? ", real kernels" : "") + "\n";
  for (const auto& fault : program.faults)
    text += "  " + std::string(to_string(fault.point)) + " " + std::to_string(fault.nth) +
            (fault.throws ? " throws " : " fails: ") + std::string(to_string(fault.kind)) +
            (fault.inherent ? ", always would" : "") +
            (fault.context != 0 ? ", in x" + std::to_string(fault.context) : "") + "\n";
  for (std::size_t c = 0; c < program.clients.size(); ++c)
    for (std::size_t i = 0; i < program.clients[c].size(); ++i)
      text += "  " + label_of(c, i) + "  " + to_string(program.clients[c][i]) + "\n";
  return text;
}

}  // namespace polychron::stress
