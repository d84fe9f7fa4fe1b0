// polychron onnx-tests: the ONNX project's own tests, directory after directory.
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/onnx_case.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/tally.hpp"
#include "apps/tool/threads.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct OnnxTestsOptions {
  std::string directory, filter;
  std::string device = "cpu";
  bool json = false;
};

constexpr const char* onnx_tests_footer =
    R"(Every directory at or below DIR that has a model.onnx is a test; its inputs and expected
outputs are test_data_set_N/input_K.pb and output_K.pb. Debian's libonnx-testdata has them in
/usr/share/libonnx-testdata/data. Floating point numbers may be off by 1e-7 + 1e-3 times the
expected number, as in ONNX's own runner. bfloat16 and float16 may be off by two units, and numbers
beside large ones by a unit of float32 of the largest. Integers must be equal. Inputs are bound to
the shapes of their data. Where the import needs a value (axes, shapes, scales), the data is given
as a constant.

  passed   every output is right
  failed   an output is wrong, or the test is damaged
  refused  the importer cannot express the model, and says why
  skipped  an input is not a tensor of numbers

The exit code is 1 if anything failed.

Examples:
  polychron onnx-tests /usr/share/libonnx-testdata/data
  polychron onnx-tests /usr/share/libonnx-testdata/data --filter softmax --json)";

std::vector<fs::path> tests_of(const OnnxTestsOptions& options) {
  std::error_code error;
  if (!fs::is_directory(options.directory, error))
    throw UserError("'" + options.directory + "': expected a directory of ONNX tests");
  std::vector<fs::path> tests;
  try {
    tests = find_onnx_tests(options.directory);
  } catch (const fs::filesystem_error& failure) {
    throw UserError("'" + failure.path1().string() + "': " + failure.code().message());
  }
  if (tests.empty()) throw UserError("'" + options.directory + "': no model.onnx in or below it");
  std::erase_if(tests, [&](const fs::path& test) {
    return test.filename().string().find(options.filter) == std::string::npos;
  });
  if (tests.empty()) throw UserError("--filter " + options.filter + ": no test has this name");
  return tests;
}

std::string row_of(const OnnxVerdict& verdict) {
  if (verdict.operators.empty()) return "(not loaded)";
  return verdict.operators.size() == 1 ? printable(verdict.operators.front()) : "(several)";
}

json to_json(const std::string& name, const OnnxVerdict& verdict) {
  constexpr const char* results[] = {"passed", "failed", "refused", "skipped"};
  json entry{{"test", name},
             {"operators", verdict.operators},
             {"constants", verdict.constants},
             {"result", results[static_cast<std::size_t>(verdict.outcome)]}};
  if (!verdict.reason.empty()) entry["reason"] = verdict.reason;
  return entry;
}

void run_tests(const OnnxTestsOptions& options, bool force_progress) {
  const auto tests = tests_of(options);
  Progress progress(force_progress);
  OnnxRunner runner(options.device);
  Tally tally({"passed", "failed", "refused", "skipped"});
  std::size_t with_constants = 0;
  auto entries = json::array();
  for (std::size_t i = 0; i < tests.size(); ++i) {
    progress.show("running ONNX's tests", i + 1, tests.size());
    const auto verdict = runner.run(tests[i]);
    const auto name = fs::relative(tests[i], options.directory).string();
    const auto reason = printable(verdict.reason);
    tally.count(row_of(verdict), static_cast<std::size_t>(verdict.outcome), reason);
    if (verdict.outcome == OnnxOutcome::passed && !verdict.constants.empty()) ++with_constants;
    if (options.json) entries.push_back(to_json(name, verdict));
    if (options.json || verdict.outcome != OnnxOutcome::failed) continue;
    progress.clear();
    std::cout << "failed: " << printable(name) << ": " << reason << std::endl;
  }
  progress.clear();
  if (options.json) {
    auto description = tally.to_json();
    description["passed_with_constants"] = with_constants;
    description["tests"] = std::move(entries);
    std::cout << to_text(description) << '\n';
  } else {
    std::cout << tally.table() << tally.reasons(static_cast<std::size_t>(OnnxOutcome::refused))
              << tally.reasons(static_cast<std::size_t>(OnnxOutcome::skipped)) << with_constants
              << " of those that passed have inputs that were given as constants\n"
              << tally.closing_line() << '\n';
  }
  if (tally.total(static_cast<std::size_t>(OnnxOutcome::failed)) != 0) throw AlreadyTold();
}

}  // namespace

void add_onnx_tests(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<OnnxTestsOptions>();
  auto* command = app.add_subcommand("onnx-tests", "Run the ONNX project's own tests");
  command->footer(onnx_tests_footer);
  command->add_option("DIR", options->directory, "Directory with tests in it")
      ->required()
      ->check(not_empty("a directory"));
  command->add_option("--filter", options->filter, "Only tests with this in their name")
      ->type_name("NAME");
  add_device_option(*command, options->device);
  command->add_flag("--json", options->json, "Print as JSON, each test's result in it");
  command->callback([options, &globals] { run_tests(*options, globals.progress); });
}

}  // namespace tool
