#include "apps/tool/commands/stress_exhaustive.hpp"

#include <chrono>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "apps/tool/commands/stress_finding.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/program.hpp"
#include "apps/tool/progress.hpp"

namespace tool {
namespace {

namespace stress = polychron::stress;
using Clock = std::chrono::steady_clock;

class Search {
 public:
  explicit Search(const ExhaustiveOptions& options)
      : options_(options), progress_(options.force_progress), reports_(options.jobs) {}

  stress::SmallReport run() {
    {
      std::vector<std::jthread> others;
      for (unsigned job = 1; job < options_.jobs; ++job)
        others.emplace_back([this, job] { search(job); });
      search(0);
    }
    progress_.clear();
    return total();
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

 private:
  void search(unsigned job) {
    const auto report = stress::explore_small(
        options_.scope, [&](const stress::SmallReport& so_far) { return go_on(job, so_far); }, job,
        options_.jobs);
    const std::lock_guard lock(mutex_);
    reports_[job] = report;
  }

  bool go_on(unsigned job, const stress::SmallReport& so_far) {
    {
      const std::lock_guard lock(mutex_);
      reports_[job] = so_far;
    }
    const auto all = total();
    if (job == 0)
      progress_.show(std::to_string(all.programs) + " of " + std::to_string(all.of_programs) +
                     " programs, " + std::to_string(all.schedules) + " schedules");
    return !all.finding && (options_.seconds <= 0 || seconds() < options_.seconds);
  }

  stress::SmallReport total() const {
    const std::lock_guard lock(mutex_);
    stress::SmallReport total;
    for (const auto& report : reports_) {
      total.programs += report.programs;
      total.of_programs = std::max(total.of_programs, report.of_programs);
      total.schedules += report.schedules;
      total.redundant += report.redundant;
      total.states += report.states;
      total.messages += report.messages;
      if (!total.finding) total.finding = report.finding;
    }
    return total;
  }

  const ExhaustiveOptions& options_;
  const Clock::time_point begun_ = Clock::now();
  Progress progress_;
  mutable std::mutex mutex_;
  std::vector<stress::SmallReport> reports_;
};

nlohmann::json as_json(const stress::SmallReport& report, const ExhaustiveOptions& options,
                       double seconds) {
  nlohmann::json value{{"calls", options.scope.calls},      {"clients", options.scope.clients},
                       {"lanes", options.scope.lanes},      {"programs", report.programs},
                       {"of_programs", report.of_programs}, {"schedules", report.schedules},
                       {"redundant", report.redundant},     {"states", report.states},
                       {"messages", report.messages},       {"seconds", seconds}};
  if (report.finding) value["finding"] = finding_as_json(*report.finding);
  return value;
}

void print(const stress::SmallReport& report, const ExhaustiveOptions& options, double seconds) {
  const auto& scope = options.scope;
  std::cout << (report.programs == report.of_programs ? "all " : "") << report.programs << " of "
            << report.of_programs << " programs of " << scope.calls << " calls, at most "
            << scope.clients << " clients, " << scope.tensors << " tensors, " << scope.lanes
            << " lanes" << (scope.faults ? ", with and without one fault" : "") << ": "
            << report.schedules << " schedules, all that differ; " << report.states << " states, "
            << report.redundant << " schedules led to known ones; "
            << static_cast<std::uint64_t>(static_cast<double>(report.schedules) /
                                          std::max(seconds, 1e-6))
            << " schedules a second\n";
  if (!report.finding) {
    std::cout << "nothing was found\n";
    return;
  }
  std::cout << "found: " << report.finding->what << '\n';
  print_finding(*report.finding);
}

}  // namespace

void search_exhaustively(const ExhaustiveOptions& options) {
  Search search(options);
  const auto report = search.run();
  if (options.json)
    std::cout << to_text(as_json(report, options, search.seconds())) << '\n';
  else
    print(report, options, search.seconds());
  if (!report.finding) return;
  write_trace(options.trace, *report.finding);
  throw AlreadyTold();
}

}  // namespace tool
