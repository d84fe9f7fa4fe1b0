// polychron bench: measures a model through the public interface, inputs and outputs included.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/platform.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/random_input.hpp"
#include "apps/tool/session.hpp"
#include "apps/tool/step_times.hpp"
#include "apps/tool/threads.hpp"
#include "apps/tool/throughput.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct BenchOptions : ModelOptions {
  std::string trace;
  Workers workers;
  int clients = 1;
  double seconds = 5;
  std::uint64_t seed = 1;
  bool json = false, profile = false;
};

constexpr const char* bench_footer =
    R"(Latency is measured for two thirds of the time: one run follows the other, and each is timed
from handing over its inputs to having its outputs. Throughput is measured for the last third: each
client keeps 8 runs in flight, and completed runs are counted. The model is warmed up before
each, for a tenth of the time. Inputs are random: 0 to 1 for floating point types, 0 or 1 for
integers. With --profile the model runs for another third, and the median time of each step of the
plan is printed. If steps in reference implementations take a twentieth of the time or more, a
warning names the slowest.

Examples:
  polychron bench model.onnx
  polychron bench model.onnx --bind x=1x3x48x320 --threads 2 --seconds 10 --json
  polychron bench model.onnx --profile)";

struct Figures {
  double load_ms = 0, build_ms = 0;
  double first_result_ms = 0;        ///< time from the file to the first outputs
  std::vector<double> latencies_ms;  ///< sorted
  Throughput throughput;
  std::vector<polychron::StepProfile> steps;  ///< with the median time of each, if requested
  double reference_share = 0;  ///< share of the steps' time in reference implementations
};

double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double since(Clock::time_point start) { return Milliseconds(Clock::now() - start).count(); }

/// A session with its inputs, and the ways of running it.
class Bench {
 public:
  Bench(const polychron::onnx::Session& session, std::uint64_t seed) : session_(session) {
    std::mt19937_64 random(seed);
    inputs_ = random_inputs(session, random);
  }

  void run_once() { finish(submit()); }

  void warm_up(double seconds) {
    for (const auto start = Clock::now(); since(start) < seconds * 1000;) finish(submit());
  }

  std::vector<double> measure_latency(double seconds) {
    std::vector<double> latencies;
    for (const auto start = Clock::now(); since(start) < seconds * 1000 || latencies.empty();) {
      auto inputs = copies_of(inputs_);  // the caller's work: not measured
      const auto run = Clock::now();
      finish(session_.run(std::move(inputs)));
      latencies.push_back(since(run));
    }
    std::sort(latencies.begin(), latencies.end());
    return latencies;
  }

  Throughput measure_throughput(double warm_up, double seconds, int clients) const {
    return tool::measure_throughput([this] { return submit(); }, clients, warm_up, seconds);
  }

  std::vector<polychron::StepProfile> measure_steps(double seconds) const {
    return step_times(session_, inputs_, seconds);
  }

 private:
  using Reply = polychron::Future<polychron::NamedBuffers>;

  Reply submit() const { return session_.run(copies_of(inputs_)); }
  static void finish(Reply reply) { static_cast<void>(reply.get()); }

  const polychron::onnx::Session session_;
  polychron::NamedBuffers inputs_;
};

nlohmann::json to_json(const std::vector<polychron::StepProfile>& steps) {
  auto list = nlohmann::json::array();
  for (const auto& step : steps)
    list.push_back({{"label", step.label},
                    {"implementation", step.implementation},
                    {"operation", step.operation},
                    {"median_us", step.seconds * 1e6}});
  return list;
}

void print(const Figures& figures, const BenchOptions& options) {
  if (options.json) {
    nlohmann::json result = {{"model", options.model},
                             {"bindings", options.bindings},
                             {"threads", options.workers.threads},
                             {"lanes", options.workers.lanes},
                             {"clients", options.clients},
                             {"seed", options.seed},
                             {"load_ms", figures.load_ms},
                             {"build_ms", figures.build_ms},
                             {"first_result_ms", figures.first_result_ms},
                             {"runs", figures.latencies_ms.size()},
                             {"median_ms", quantile(figures.latencies_ms, 0.5)},
                             {"p99_ms", quantile(figures.latencies_ms, 0.99)},
                             {"min_ms", figures.latencies_ms.front()},
                             {"throughput_per_second", figures.throughput.per_second},
                             {"pipelined_runs", figures.throughput.runs},
                             {"reference_share", figures.reference_share},
                             {"peak_resident_bytes", peak_resident_bytes()}};
    if (options.profile) result["steps"] = to_json(figures.steps);
    std::cout << to_text(result) << '\n';
    return;
  }
  std::cout << std::fixed << std::setprecision(3);
  std::cout << "load        " << figures.load_ms << " ms\n"
            << "build       " << figures.build_ms << " ms\n"
            << "first       " << figures.first_result_ms << " ms  (from the file to a result)\n"
            << "median      " << quantile(figures.latencies_ms, 0.5) << " ms\n"
            << "p99         " << quantile(figures.latencies_ms, 0.99) << " ms  (of "
            << figures.latencies_ms.size() << " runs)\n"
            << std::setprecision(1) << "throughput  " << figures.throughput.per_second
            << " runs/s\n"
            << "memory      " << static_cast<double>(peak_resident_bytes()) / (1 << 20)
            << " MiB, peak\n";
  for (const auto& step : figures.steps)
    std::cout << std::setw(10) << step.seconds * 1e6 << " us  " << step.implementation << ": "
              << (step.label.empty() ? "" : "[" + printable(step.label) + "] ") << step.operation
              << '\n';
}

/// True if the step runs in a reference implementation: a library's, or the plain loops of each
/// operator. Copies do not count: they are as fast there as elsewhere.
bool runs_reference(const polychron::StepProfile& step) {
  return step.implementation.ends_with("reference") && !step.operation.starts_with("copy ");
}

/// The share of reference steps in the total time.
double reference_share(const std::vector<polychron::StepProfile>& steps) {
  double all = 0, slow = 0;
  for (const auto& step : steps) {
    all += step.seconds;
    if (runs_reference(step)) slow += step.seconds;
  }
  return all > 0 ? slow / all : 0;
}

/// Warns on standard error if reference implementations take much of the time, and names them.
void warn_of_references(const std::vector<polychron::StepProfile>& steps) {
  constexpr double noticeable = 0.05;
  const double share = reference_share(steps);
  if (share < noticeable) return;
  const polychron::StepProfile* slowest = nullptr;
  for (const auto& step : steps)
    if (runs_reference(step) && (slowest == nullptr || step.seconds > slowest->seconds))
      slowest = &step;
  std::cerr << "polychron: warning: " << std::lround(100 * share)
            << " % of the steps' time is spent in reference implementations, which are slow. The "
               "slowest step is "
            << (slowest->label.empty() ? "" : "[" + printable(slowest->label) + "] ")
            << slowest->operation << ". --profile lists all steps.\n";
}

void bench_model(const BenchOptions& options, bool force_progress) {
  const auto bindings = parse_bindings(options.bindings);
  auto files = files_of(options.constants, "--constant");
  files.insert(files.begin(), {"MODEL", options.model});
  check_files(files, {{"--trace", options.trace}});
  const auto constants = read_constants(options.constants);
  Progress progress(force_progress);
  Figures figures;
  progress.show("loading the model");
  const auto beginning = Clock::now();
  auto model = load_model(options.model);
  figures.load_ms = since(beginning);
  const auto start = Clock::now();
  const auto opened = open_session(std::move(model), {bindings, constants}, options.workers,
                                   label_of(options.model), progress, options.trace);
  figures.build_ms = since(start);

  Bench bench(opened->session, options.seed);
  bench.run_once();
  figures.first_result_ms = since(beginning);
  progress.show("warming up");
  bench.warm_up(options.seconds / 10);
  progress.show("measuring latency");
  figures.latencies_ms = bench.measure_latency(options.seconds * 2 / 3);
  progress.show("measuring throughput");
  figures.throughput =
      bench.measure_throughput(options.seconds / 10, options.seconds / 3, options.clients);
  progress.show("measuring steps");
  const auto steps = bench.measure_steps(options.profile ? options.seconds / 3 : 0);
  if (options.profile) figures.steps = steps;
  figures.reference_share = reference_share(steps);
  progress.clear();
  print(figures, options);
  warn_of_references(steps);
  opened->close();
}

}  // namespace

void add_bench(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<BenchOptions>();
  auto* command = app.add_subcommand("bench", "Measure latency and throughput of a model");
  command->footer(bench_footer);
  add_model_options(*command, *options);
  add_workers_options(*command, options->workers);
  command
      ->add_option("--clients", options->clients, "Threads that send runs at once, for throughput")
      ->check(whole_number(1, 256))
      ->type_name("N")
      ->capture_default_str();
  add_trace_option(*command, options->trace);
  command->add_option("--seconds", options->seconds, "Duration of the measurement")
      ->check(between(0.01, 3600))
      ->type_name("S")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the random inputs")
      ->check(whole_number())
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--profile", options->profile, "Also print the time of each step of the plan");
  command->add_flag("--json", options->json, "Print as JSON");
  command->callback([options, &globals] { bench_model(*options, globals.progress); });
}

}  // namespace tool
