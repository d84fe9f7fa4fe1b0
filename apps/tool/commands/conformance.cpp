// polychron conformance: the public suite's numeric cases, file after file.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/conformance/case.hpp"
#include "apps/tool/conformance/values.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/tally.hpp"
#include "apps/tool/threads.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using polychron::conformance::Outcome;
using polychron::conformance::Verdict;
using polychron::conformance::Zeros;

struct ConformanceOptions {
  std::string directory, filter;
  bool json = false;
  bool signed_zeros = false;
  std::string device = "cpu";
};

constexpr const char* conformance_footer =
    R"(DIR has JSON files. Each is an array of cases: a graph with its inputs, expected outputs and
a tolerance. A failure is printed when it is found, with the element that is farthest off. At the
end come a table by operator, the reasons why cases were skipped, and the totals. A file or a case
that is not in this format counts as failed. The exit code is 1 if anything failed.

Examples:
  polychron conformance cases
  polychron conformance cases --filter conv2d --json)";

std::vector<fs::path> json_files(const std::string& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error))
    throw UserError("'" + directory + "': expected a directory of .json files");
  try {
    auto files = polychron::conformance::files_of(directory);
    if (files.empty()) throw UserError("'" + directory + "' has no .json files");
    return files;
  } catch (const fs::filesystem_error& failure) {
    throw UserError("'" + directory + "': " + failure.code().message());
  }
}

/// JSON has no infinity.
json json_number(double value) {
  return std::isfinite(value) ? json(value) : json(std::isnan(value) ? "NaN" : "Infinity");
}

class Report {
 public:
  explicit Report(bool as_json) : as_json_(as_json) {}

  void add(const std::string& file, const std::string& name, const std::string& operator_name,
           const Verdict& verdict) {
    const auto reason = printable(verdict.reason);
    tally_.count(operator_name.empty() ? "(unknown)" : printable(operator_name),
                 static_cast<std::size_t>(verdict.outcome), reason);
    if (as_json_) return add_json(file, name, operator_name, verdict);
    if (verdict.outcome != Outcome::failed) return;
    std::cout << "failed: " << printable(file)
              << (name.empty() ? "" : " \"" + printable(name) + "\"") << ": " << reason
              << std::endl;
  }

  std::size_t count(Outcome outcome) const {
    return tally_.total(static_cast<std::size_t>(outcome));
  }

  void close() const {
    if (as_json_) {
      auto description = tally_.to_json();
      description["cases"] = cases_;
      std::cout << to_text(description) << '\n';
    } else {
      std::cout << tally_.table() << tally_.reasons(static_cast<std::size_t>(Outcome::skipped))
                << tally_.closing_line() << '\n';
    }
  }

 private:
  void add_json(const std::string& file, const std::string& name, const std::string& operator_name,
                const Verdict& verdict) {
    constexpr const char* results[] = {"passed", "failed", "skipped"};
    json entry{{"file", file},
               {"case", name},
               {"operator", operator_name},
               {"result", results[static_cast<std::size_t>(verdict.outcome)]}};
    if (!verdict.reason.empty()) entry["reason"] = verdict.reason;
    if (const auto& worst = verdict.worst)
      entry["worst"] = {{"output", worst->output},
                        {"element", worst->difference.element},
                        {"actual", worst->difference.actual},
                        {"expected", worst->difference.expected},
                        {"distance", json_number(worst->difference.distance)},
                        {"metric", worst->metric},
                        {"allowed", json_number(worst->allowed)}};
    cases_.push_back(std::move(entry));
  }

  bool as_json_;
  Tally tally_{{"passed", "failed", "skipped"}};
  json cases_ = json::array();
};

void run_files(const ConformanceOptions& options, bool force_progress) {
  const auto files = json_files(options.directory);
  Progress progress(force_progress);
  polychron::conformance::Runner runner(options.signed_zeros ? Zeros::signed_ : Zeros::alike,
                                        options.device);
  Report report(options.json);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto file = files[i].filename().string();
    std::vector<json> cases;
    try {
      cases = polychron::conformance::cases_of(files[i]);
    } catch (const polychron::conformance::Malformed& problem) {
      progress.clear();
      report.add(file, "", "", {Outcome::failed, problem.what(), std::nullopt});
    }
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const auto& test = cases[k];
      if (!options.filter.empty() && !polychron::conformance::has_operator(test, options.filter))
        continue;
      progress.show("running " + file, i + 1, files.size());
      const auto verdict = runner.run(test);
      if (verdict.outcome == Outcome::failed) progress.clear();
      const auto name = polychron::conformance::name_of(test);
      report.add(file, name.empty() ? "case " + std::to_string(k + 1) : name,
                 polychron::conformance::operator_of(test), verdict);
    }
  }
  progress.clear();
  const auto failed = report.count(Outcome::failed);
  if (failed + report.count(Outcome::passed) + report.count(Outcome::skipped) == 0)
    throw UserError(options.filter.empty()
                        ? "'" + options.directory + "' has no cases"
                        : "--filter " + options.filter + ": no case has this operator");
  report.close();
  if (failed != 0) throw AlreadyTold();
}

}  // namespace

void add_conformance(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<ConformanceOptions>();
  auto* command = app.add_subcommand("conformance", "Run numeric test cases of WebNN's operators");
  command->footer(conformance_footer);
  command->add_option("DIR", options->directory, "Directory of case files")
      ->required()
      ->check(not_empty("a directory"));
  command->add_option("--filter", options->filter, "Only cases with this operator")
      ->type_name("OP");
  add_device_option(*command, options->device);
  command->add_flag("--signed-zeros", options->signed_zeros,
                    "Distinguish 0 from -0 when results are compared");
  command->add_flag("--json", options->json, "Print as JSON, each case's result in it");
  command->callback([options, &globals] { run_files(*options, globals.progress); });
}

}  // namespace tool
