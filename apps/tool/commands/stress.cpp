// polychron stress: random programs under searched schedules, on the production actors.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/commands/stress_exhaustive.hpp"
#include "apps/tool/commands/stress_finding.hpp"
#include "apps/tool/output_files.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/trace_file.hpp"
#include "observe/stress/explorer.hpp"

namespace tool {
namespace {

namespace stress = polychron::stress;
using Clock = std::chrono::steady_clock;

struct StressOptions {
  stress::Exploration exploration;
  std::uint64_t schedules = 20000;
  double seconds = 0;
  std::string strategy = "mixed", backend = "symbolic", replay, trace;
  std::vector<std::string> faults;
  bool no_faults = false, no_shrinking = false, json = false;
  unsigned jobs = 1;
  std::size_t exhaustive = 0;
};

constexpr const char* stress_footer =
    R"(Clients make random calls on a context. A strategy decides, message by message, which actor
moves, when time passes, and which step interrupts another: this order is a schedule. Every answer
is compared with a model of the contract (docs/contract.md), and nothing may be left at the end.
The first finding is shortened and printed with a token that runs it again. The exit code is 1 if
something was found.

Examples:
  polychron stress
  polychron stress --seconds 60 --jobs 2
  polychron stress --schedules 100000 --strategy pct --clients 4 --lanes 1
  polychron stress --faults execution,allocation --backend real
  polychron stress --exhaustive 2 --lanes 1
  polychron stress --replay TOKEN --trace run.trace)";

/// Joins the reports of several jobs.
class Sum {
 public:
  explicit Sum(std::size_t jobs) : reports_(jobs) {}
  void set(std::size_t job, const stress::Report& report) {
    const std::lock_guard lock(mutex_);
    reports_[job] = report;
  }
  stress::Report total() const {
    const std::lock_guard lock(mutex_);
    stress::Report total;
    for (const auto& report : reports_) {
      total.schedules += report.schedules;
      total.programs += report.programs;
      total.messages += report.messages;
      if (report.coverage.size() > total.coverage.size()) total.coverage = report.coverage;
      if (report.states.size() > total.states.size()) total.states = report.states;
      if (report.finding && !total.finding) total.finding = report.finding;
    }
    return total;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<stress::Report> reports_;
};

nlohmann::json as_json(const stress::Report& report, const StressOptions& options, double seconds) {
  nlohmann::json value{{"seed", options.exploration.seed}, {"strategy", options.strategy},
                       {"schedules", report.schedules},    {"programs", report.programs},
                       {"messages", report.messages},      {"seconds", seconds},
                       {"coverage", report.coverage},      {"states", report.states}};
  if (report.finding) {
    value["finding"] = finding_as_json(*report.finding);
    value["finding"]["seed"] = report.finding->seed;
    value["finding"]["after_schedules"] = report.finding->schedules;
  }
  return value;
}

std::string rate(double count, double seconds) {
  return std::to_string(static_cast<std::uint64_t>(count / std::max(seconds, 1e-6)));
}

void print(const stress::Report& report, const StressOptions& options, double seconds) {
  std::cout << "seed " << options.exploration.seed << ", strategy " << options.strategy << ": "
            << report.schedules << " schedules of " << report.programs << " programs, "
            << rate(static_cast<double>(report.schedules), seconds) << " a second; "
            << report.messages << " messages, "
            << rate(static_cast<double>(report.messages), seconds) << " a second\n";
  std::cout << "coverage, ordered pairs of messages on an actor:";
  // The curve at powers of two: flat, or still growing.
  for (std::uint64_t at = 1; at <= report.schedules; at *= 4) {
    std::size_t seen = 0;
    for (const auto& [after, pairs] : report.coverage)
      if (after <= at) seen = pairs;
    std::cout << ' ' << seen << " after " << at << (4 * at <= report.schedules ? "," : "");
  }
  if (!report.coverage.empty())
    std::cout << "; the last new one after " << report.coverage.back().first;
  std::cout << '\n';
  std::cout << "states of a context, about:";
  for (std::size_t i = 0; i < report.states.size(); i += 2)
    std::cout << ' ' << report.states[i].second << " after " << report.states[i].first
              << (i + 2 < report.states.size() ? "," : "");
  std::cout << '\n';
  if (!report.finding) {
    std::cout << "nothing was found\n";
    return;
  }
  const auto& finding = *report.finding;
  std::cout << "found, after " << finding.schedules << " schedules: " << finding.what << '\n';
  print_finding(finding);
}

void run_again(const StressOptions& options) {
  stress::Program program;
  stress::RunRecording recording;
  const auto result =
      stress::replay(options.replay, &program, options.trace.empty() ? nullptr : &recording);
  if (!options.trace.empty()) write_trace(options.trace, recording);
  if (options.json) {
    nlohmann::json value{{"program", to_string(program)},
                         {"schedule", stress::to_string(result.schedule)}};
    if (result.finding) value["finding"] = *result.finding;
    std::cout << to_text(value) << '\n';
  } else {
    std::cout << to_string(program)
              << (result.finding ? "found: " + *result.finding : "nothing was found") << '\n';
  }
  if (result.finding) throw AlreadyTold();
}

void search(StressOptions options, bool force_progress) {
  const auto begun = Clock::now();
  const auto seconds = [begun] {
    return std::chrono::duration<double>(Clock::now() - begun).count();
  };
  Progress progress(force_progress);
  Sum sum(options.jobs);
  const auto job = [&](std::size_t number) {
    auto exploration = options.exploration;
    exploration.seed += number;
    exploration.stride = options.jobs;
    exploration.schedules =
        options.seconds > 0 ? ~std::uint64_t{0} : options.schedules / options.jobs;
    sum.set(number, stress::explore(exploration, [&](const stress::Report& report) {
              if (report.programs % 64 != 0) return true;
              sum.set(number, report);
              const auto total = sum.total();
              if (number == 0)
                progress.show(std::to_string(total.schedules) + " schedules, " +
                              rate(static_cast<double>(total.schedules), seconds()) + " a second");
              return !total.finding && (options.seconds <= 0 || seconds() < options.seconds);
            }));
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t number = 1; number < options.jobs; ++number) others.emplace_back(job, number);
    job(0);
  }
  progress.clear();
  const auto total = sum.total();
  if (options.json)
    std::cout << to_text(as_json(total, options, seconds())) << '\n';
  else
    print(total, options, seconds());
  if (total.finding) write_trace(options.trace, *total.finding);
  if (total.finding) throw AlreadyTold();
}

void run(StressOptions options, bool force_progress) {
  if (!options.trace.empty()) require_output_file(options.trace);
  if (!options.replay.empty()) return run_again(options);
  auto& faults = options.exploration.swarm.faults;
  if (options.no_faults || !options.faults.empty()) faults.clear();
  for (const auto point : stress::fault_points)
    if (std::ranges::find(options.faults, to_string(point)) != options.faults.end())
      faults.push_back(point);
  const auto& swarm = options.exploration.swarm;
  if (options.exhaustive != 0)
    return search_exhaustively({{.calls = options.exhaustive,
                                 .clients = std::min<std::size_t>(swarm.clients, 2),
                                 .lanes = std::min(swarm.lanes, 2),
                                 .faults = !faults.empty()},
                                options.seconds,
                                options.jobs,
                                options.json,
                                force_progress,
                                options.trace});
  for (const auto search : stress::searches)
    if (to_string(search) == options.strategy) options.exploration.search = search;
  if (options.backend == "real") options.exploration.swarm.backend = stress::Computes::real;
  options.exploration.shrinks = !options.no_shrinking;
  search(options, force_progress);
}

}  // namespace

void add_stress(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<StressOptions>();
  options->exploration.seed = std::random_device()();
  auto* const command = app.add_subcommand(
      "stress", "Search the schedules of random programs for one that breaks the contract");
  command->footer(stress_footer);
  std::vector<std::string> names;
  for (const auto search : stress::searches) names.emplace_back(to_string(search));
  auto& swarm = options->exploration.swarm;
  auto* const schedules =
      command->add_option("--schedules", options->schedules, "Number of schedules to try")
          ->check(whole_number(1))
          ->capture_default_str();
  command->add_option("--seconds", options->seconds, "Search for this long instead")
      ->check(between(0.001, 1e7))
      ->excludes(schedules);
  command
      ->add_option("--seed", options->exploration.seed,
                   "Seed of the first program; drawn, and printed, if it is not given")
      ->check(whole_number());
  auto* const strategy =
      command->add_option("--strategy", options->strategy, "Strategy that chooses the next actor")
          ->check(one_of(names))
          ->capture_default_str();
  auto* const backend =
      command
          ->add_option("--backend", options->backend,
                       "Compute with symbols, or with the processor's kernels, which is slower")
          ->check(one_of({"symbolic", "real"}))
          ->capture_default_str();
  command->add_option("--clients", swarm.clients, "The most clients at once")
      ->check(whole_number(1, 16))
      ->capture_default_str();
  command->add_option("--calls", swarm.calls, "The most calls in a program")
      ->check(whole_number(3, 1000))
      ->capture_default_str();
  command->add_option("--lanes", swarm.lanes, "The most lanes of a context")
      ->check(whole_number(1, 16))
      ->capture_default_str();
  std::vector<std::string> points{"none"};
  for (const auto point : stress::fault_points) points.emplace_back(to_string(point));
  auto* const faults =
      command
          ->add_option("--faults", options->faults,
                       "Faults to inject, separated by commas; all of them if not given")
          ->delimiter(',')
          ->check(one_of(points));
  command->add_flag("--no-faults", options->no_faults, "The same as --faults none")
      ->excludes(faults);
  command->add_flag("--no-shrinking", options->no_shrinking, "Do not shorten a finding");
  command->add_option("--jobs", options->jobs, "Threads that search in parallel")
      ->check(whole_number(1, 256))
      ->capture_default_str();
  command
      ->add_option(
          "--exhaustive", options->exhaustive,
          "Instead, try every schedule of every program of this many calls of at most two clients")
      ->check(whole_number(1, 6))
      ->excludes(schedules)
      ->excludes(strategy)
      ->excludes(backend);
  command->add_option("--replay", options->replay, "Run a finding again, by its token")
      ->check(not_empty("a token"));
  add_trace_option(*command, options->trace, "Record the run of the finding or the replay");
  command->add_flag("--json", options->json, "Print the report as JSON");
  command->callback([options, &globals] { run(*options, globals.progress); });
}

}  // namespace tool
