#include "observe/stress/small_scope.hpp"

#include <algorithm>

#include "observe/stress/systematic.hpp"

namespace polychron::stress {

namespace {

/// Appends calls, one after the other, to clients, one after the other.
class Enumeration {
 public:
  Enumeration(const SmallScope& scope, const std::function<bool(const Program&)>& f)
      : scope_(scope), f_(f) {
    program_.lanes = scope.lanes;
    program_.tensors = scope.tensors;
  }
  void run() {
    for (std::size_t clients = 1; clients <= std::min(scope_.clients, scope_.calls); ++clients) {
      program_.clients.assign(clients, {});
      split(0, scope_.calls);
    }
  }

 private:
  /// Gives `calls` calls to the clients from `client` on: none gets more than the one before.
  void split(std::size_t client, std::size_t calls) {
    const auto others = program_.clients.size() - client - 1;
    if (others == 0) {
      if (client > 0 && calls > sizes_.back()) return;
      sizes_.push_back(calls);
      fill(0);
      sizes_.pop_back();
      return;
    }
    for (std::size_t mine = calls - others; mine >= 1; --mine) {
      if (client > 0 && mine > sizes_.back()) continue;
      sizes_.push_back(mine);
      split(client + 1, calls - mine);
      sizes_.pop_back();
    }
  }

  void fill(std::size_t client) {
    if (stopped_) return;
    if (client == program_.clients.size()) return finish();
    auto& calls = program_.clients[client];
    if (calls.size() == sizes_[client]) return fill(client + 1);
    each_call(client, [&](const Call& call) {
      const auto used = used_;
      for (const auto tensor : tensors_of(call)) used_ = std::max(used_, tensor + 1);
      calls.push_back(call);
      fill(client);
      calls.pop_back();
      used_ = used;
    });
  }

  static std::vector<std::size_t> tensors_of(const Call& call) {
    switch (call.kind) {
      case Kind::write:
      case Kind::read:
      case Kind::query:
      case Kind::lend:
      case Kind::give_back:
      case Kind::destroy_tensor:
        return {call.tensor};
      case Kind::dispatch: {
        auto tensors = call.inputs;
        tensors.push_back(call.tensor);
        return tensors;
      }
      default:
        return {};
    }
  }

  /// Numbers tensors in the order of their first use.
  template <class F>
  void each_call(std::size_t client, F&& f) {
    const auto tensors = std::min(used_ + 1, scope_.tensors);
    for (std::size_t t = 0; t < tensors; ++t) {
      for (const auto kind : {Kind::write, Kind::read, Kind::query, Kind::destroy_tensor})
        f({.kind = kind, .tensor = t, .value = kind == Kind::write ? next_value() : 0});
      for (const unsigned way : {0U, 1U}) f({.kind = Kind::lend, .tensor = t, .way = way});
      if (lent(client, t)) f({.kind = Kind::give_back, .tensor = t, .value = next_value()});
    }
    each_dispatch(f);
    f({.kind = Kind::compute, .graph = 0, .value = next_value()});
    f({.kind = Kind::build});
    f({.kind = Kind::create, .tensor = scope_.tensors + created()});
    f({.kind = Kind::pending});
    f({.kind = Kind::push_scope});
    if (has(Kind::push_scope)) f({.kind = Kind::pop_scope});
    for (const std::size_t g : {0U, 1U}) f({.kind = Kind::destroy_graph, .graph = g});
    f({.kind = Kind::destroy_context});
  }

  template <class F>
  void each_dispatch(F&& f) {
    const auto known = [&](std::size_t so_far) { return std::min(so_far + 1, scope_.tensors); };
    for (std::size_t in = 0; in < known(used_); ++in) {
      const auto after = std::max(used_, in + 1);
      for (std::size_t out = 0; out < known(after); ++out) {
        if (out == in) continue;
        f({.kind = Kind::dispatch, .tensor = out, .inputs = {in}, .graph = 0});
        const auto then = std::max(after, out + 1);
        for (std::size_t other = 0; other < known(then); ++other)
          if (other != in && other != out)
            f({.kind = Kind::dispatch, .tensor = out, .inputs = {in, other}, .graph = 1});
      }
    }
  }

  bool has(Kind kind) const { return program_.has(kind); }
  std::size_t created() const {
    std::size_t count = 0;
    for (const auto& calls : program_.clients)
      count += static_cast<std::size_t>(std::ranges::count(calls, Kind::create, &Call::kind));
    return count;
  }
  std::uint64_t next_value() const { return program_.calls() + 1; }
  /// True if the client has lent it more often than it gave it back.
  bool lent(std::size_t client, std::size_t tensor) const {
    int out = 0;
    for (const auto& call : program_.clients[client]) {
      out += call.kind == Kind::lend && call.tensor == tensor;
      out -= call.kind == Kind::give_back && call.tensor == tensor;
    }
    return out > 0;
  }

  void finish() {
    give();
    if (!scope_.faults) return;
    const auto with = [&](std::initializer_list<Kind> kinds, PlannedFault fault) {
      std::uint64_t calls = 0;
      for (const auto& client : program_.clients)
        for (const auto& call : client) calls += std::ranges::find(kinds, call.kind) != kinds.end();
      for (fault.nth = 1; fault.nth <= calls; ++fault.nth) {
        program_.faults = {fault};
        give();
      }
      program_.faults.clear();
    };
    with({Kind::create}, {.point = FaultPoint::allocate});
    with({Kind::write}, {.point = FaultPoint::adopt});
    with({Kind::read}, {.point = FaultPoint::read});
    with({Kind::build}, {.point = FaultPoint::compile});
    const std::initializer_list<Kind> runs{Kind::dispatch, Kind::compute};
    with(runs, {.point = FaultPoint::instantiate});
    with(runs, {.point = FaultPoint::execute, .kind = ErrorKind::operation_error});
    with(runs,
         {.point = FaultPoint::execute, .kind = ErrorKind::operation_error, .inherent = true});
    with(runs, {.point = FaultPoint::execute, .throws = true});
    with(runs, {.point = FaultPoint::execute, .kind = ErrorKind::context_lost});
  }

  void give() {
    if (!stopped_) stopped_ = !f_(program_);
  }

  const SmallScope scope_;
  const std::function<bool(const Program&)>& f_;
  Program program_;
  std::vector<std::size_t> sizes_;
  std::size_t used_ = 0;
  bool stopped_ = false;
};

}  // namespace

void each_small_program(const SmallScope& scope, const std::function<bool(const Program&)>& f) {
  Enumeration(scope, f).run();
}

std::uint64_t explore_all_schedules(const Program& program, SmallReport& report, Stage* stage) {
  SystematicStrategy strategy;
  std::uint64_t schedules = 0;
  do {
    auto result = run(program, strategy, stage);
    ++schedules;
    report.messages += result.messages;
    report.redundant += strategy.redundant();
    if (!result.finding) continue;
    Finding finding{
        *result.finding, program, std::move(result.schedule), 0, report.schedules + schedules, {}};
    report.finding = shrink(std::move(finding));
    report.finding->token = token_of(report.finding->program, report.finding->schedule);
    break;
  } while (strategy.next());
  report.schedules += schedules;
  report.states += strategy.states();
  return schedules;
}

SmallReport explore_small(const SmallScope& scope,
                          const std::function<bool(const SmallReport&)>& go_on, std::uint64_t job,
                          std::uint64_t jobs) {
  SmallReport report;
  Stage stage;
  each_small_program(scope, [&](const Program&) {
    ++report.of_programs;
    return true;
  });
  // Neighbouring programs are alike, so it takes far steps from one to the next.
  const auto passes = std::min<std::uint64_t>(report.of_programs, 256);
  bool ended = false;
  for (std::uint64_t pass = 0; pass < passes && !ended; ++pass) {
    std::uint64_t number = 0;
    each_small_program(scope, [&](const Program& program) {
      const auto mine = number / passes % jobs == job && number % passes == pass * 97 % passes;
      ++number;
      if (!mine) return true;
      explore_all_schedules(program, report, &stage);
      ++report.programs;
      ended = report.finding || (go_on && !go_on(report));
      return !ended;
    });
  }
  return report;
}

}  // namespace polychron::stress
