// polychron trace: shows, checks and replays recordings.
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "apps/tool/arguments.hpp"
#include "apps/tool/commands/commands.hpp"
#include "apps/tool/input_file.hpp"
#include "apps/tool/named_files.hpp"
#include "apps/tool/output_files.hpp"
#include "apps/tool/printable.hpp"
#include "apps/tool/progress.hpp"
#include "observe/replay/replay.hpp"
#include "observe/trace/check.hpp"
#include "observe/trace/chrome.hpp"
#include "observe/trace/page.hpp"
#include "observe/trace/summary.hpp"
#include "polychron/error.hpp"

namespace tool {
namespace {

namespace replay = polychron::replay;
namespace trace = polychron::trace;

struct TraceOptions {
  std::string recording, output;
  std::uint64_t schedules = 0, seed = 1;
  std::string with;  ///< another recording, shown beside it
};

constexpr const char* trace_footer =
    R"help(A recording tells what the actors of a runtime did. Four things make one:
  polychron run, bench or stress, or polychron-ocr, with --trace FILE
  POLYCHRON_TRACE=FILE in the environment of any program that uses the library
  Runtime::start_trace() and Runtime::trace() in a program
  polychron::stress, as SearchFinding::trace of what it found

Examples:
  polychron bench model.onnx --seconds 1 --trace run.trace
  polychron trace summary run.trace
  polychron trace view run.trace -o run.html
  polychron trace view failed.trace --with passed.trace -o both.html
  polychron trace chrome run.trace -o run.json      (for ui.perfetto.dev)
  polychron trace check run.trace
  polychron trace replay run.trace                  (the same calls in the same order)
  polychron trace replay run.trace --schedules 1000 (in other orders))help";

constexpr std::size_t max_recording = std::size_t{1} << 31;

std::vector<std::byte> read_bytes(const std::string& path) {
  if (path == standard_stream) return read_standard_input(max_recording);
  return read_file(path, "recording", max_recording);
}

/// The error for an unreadable recording.
UserError refusal(const std::string& path, const polychron::Error& error) {
  return UserError("recording '" + name_of_input(path) + "': " + error.message());
}

trace::JoinedTrace read_joined(const std::string& path) {
  const auto bytes = read_bytes(path);
  try {
    return trace::join(bytes);
  } catch (const polychron::Error& error) {
    throw refusal(path, error);
  }
}

std::string title_of(const std::string& path) {
  return path == standard_stream ? "recording" : std::filesystem::path(path).filename().string();
}

void write(const TraceOptions& options, const std::string& text) {
  if (options.output.empty() || options.output == standard_stream) {
    std::cout << text;
    return;
  }
  OutputFiles files;
  files.add(options.output, {std::as_bytes(std::span(text))});
  files.commit();
}

void summarize(const TraceOptions& options) {
  const auto text = trace::summary(read_joined(options.recording));
  // Labels are the callers', and must not reach a terminal as they are; lines must.
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    std::cout << printable(text.substr(begin, end - begin)) << '\n';
    begin = end + 1;
  }
}

void view(const TraceOptions& options) {
  const auto joined = read_joined(options.recording);
  trace::Titled shown{joined, title_of(options.recording)};
  if (options.with.empty()) return write(options, trace::page(shown));
  const auto second = read_joined(options.with);
  trace::Titled other{second, title_of(options.with)};
  if (shown.title == other.title) {
    shown.title = options.recording;
    other.title = options.with;
  }
  write(options, trace::page(shown, &other));
}

void check(const TraceOptions& options) {
  const auto joined = read_joined(options.recording);
  const auto verdict = trace::check(joined);
  for (const auto& sentence : verdict.broken) std::cout << printable(sentence) << '\n';
  std::cout << verdict.checked << " facts checked, " << verdict.broken.size() << " broken\n";
  if (!verdict.broken.empty()) throw AlreadyTold();
}

void save(const TraceOptions& options, std::span<const std::byte> recording) {
  if (options.output.empty()) return;
  OutputFiles files;
  files.add(options.output, {recording});
  files.commit();
}

std::string count(std::size_t number, const char* thing) {
  return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

void replay_as_recorded(const TraceOptions& options, std::span<const std::byte> recording) {
  const auto replayed = replay::replay(recording);
  for (const auto& difference : replayed.differences) std::cout << printable(difference) << '\n';
  if (replayed.left_out != 0)
    std::cout << count(replayed.left_out, "context")
              << " left out: made before the recording began, or not recorded all the time\n";
  std::cout << count(replayed.calls, "call") << " on " << count(replayed.contexts, "context")
            << " made again: " << count(replayed.operations, "operation") << " carried out, "
            << count(replayed.errors, "error") << ", " << count(replayed.values, "answer")
            << (replayed.contents ? " (bytes compared)" : " (bytes not recorded)") << "; "
            << count(replayed.differences.size(), "difference") << '\n';
  save(options, replayed.recording);
  if (!replayed.differences.empty()) throw AlreadyTold();
}

void replay_otherwise(const TraceOptions& options, std::span<const std::byte> recording,
                      bool force_progress) {
  Progress progress(force_progress);
  const auto varied =
      replay::vary(recording, {options.schedules, options.seed}, [&](std::uint64_t schedules) {
        if (schedules % 16 == 0) progress.show("schedules", schedules, options.schedules);
        return true;
      });
  progress.clear();
  if (!varied.finding) {
    std::cout << count(varied.schedules, "schedule") << " tried, from seed " << options.seed
              << ": nothing found\n";
    return;
  }
  std::cout << printable(*varied.finding) << "\nfound in the schedule of seed " << varied.seed
            << "; again: polychron trace replay RECORDING --schedules 1 --seed " << varied.seed
            << '\n';
  save(options, varied.recording);
  throw AlreadyTold();
}

void replay_recording(const TraceOptions& options, bool force_progress) {
  if (!options.output.empty()) require_output_file(options.output);
  const auto bytes = read_bytes(options.recording);
  try {
    options.schedules == 0 ? replay_as_recorded(options, bytes)
                           : replay_otherwise(options, bytes, force_progress);
  } catch (const polychron::Error& error) {
    throw refusal(options.recording, error);
  }
}

CLI::App* add(CLI::App& to, const char* name, const char* help,
              const std::shared_ptr<TraceOptions>& options,
              std::function<void(const TraceOptions&)> run) {
  auto* command = to.add_subcommand(name, help);
  command->add_option("RECORDING", options->recording, "A recording; - is standard input")
      ->required()
      ->check(not_empty("a file"));
  command->callback([options, run = std::move(run)] {
    check_files({{"RECORDING", options->recording}, {"--with", options->with}},
                {{"--output", options->output}});
    run(*options);
  });
  return command;
}

void add_output(CLI::App& command, const std::shared_ptr<TraceOptions>& options) {
  command
      .add_option("-o,--output", options->output,
                  "File for the result; standard output if not given")
      ->type_name("FILE")
      ->check(not_empty("a file"));
}

}  // namespace

void add_trace(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<TraceOptions>();
  auto* command = app.add_subcommand("trace", "Look at a recording of a runtime's actors");
  command->footer(trace_footer);
  command->require_subcommand(0, 1);  // main() reports a missing one
  add(*command, "summary", "Summarize times, waits and failures in words", options, summarize);
  auto* viewing =
      add(*command, "view", "Make one page for a browser, which shows the run step by step",
          options, view);
  add_output(*viewing, options);
  viewing
      ->add_option("--with", options->with,
                   "Show another recording beside it, and mark where they first differ")
      ->type_name("RECORDING")
      ->check(not_empty("a file"));
  add_output(*add(*command, "chrome", "Make JSON of Chrome's trace events, for Perfetto", options,
                  [](const TraceOptions& o) {
                    write(o, trace::chrome_json(read_joined(o.recording), title_of(o.recording)));
                  }),
             options);
  auto* replay =
      add(*command, "replay", "Make the same calls again in one thread, and report what differs",
          options, [&globals](const TraceOptions& o) { replay_recording(o, globals.progress); });
  replay
      ->add_option("--schedules", options->schedules,
                   "Try this many other orders of these calls instead, and report violations")
      ->check(whole_number());
  replay->add_option("--seed", options->seed, "Seed of the first of these orders")
      ->check(whole_number());
  replay->add_option("-o,--output", options->output, "File for a recording of the repeated run")
      ->type_name("FILE")
      ->check(not_empty("a file"));
  add(*command, "check", "Check the rules that every run must keep", options, check);
}

}  // namespace tool
