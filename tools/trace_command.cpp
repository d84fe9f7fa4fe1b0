// polychron trace: what a recording has to tell.
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include "polychron/error.hpp"
#include "tools/arguments.hpp"
#include "tools/command.hpp"
#include "tools/output_files.hpp"
#include "tools/printable.hpp"
#include "tools/standard_input.hpp"
#include "trace/check.hpp"
#include "trace/chrome.hpp"
#include "trace/page.hpp"
#include "trace/summary.hpp"

namespace tool {
namespace {

namespace trace = polychron::trace;

struct Options {
  std::string recording, output;
};

constexpr const char* footer =
    R"(A recording is made by --trace FILE of run, bench and ocr, by POLYCHRON_TRACE=FILE in the
environment of any program that uses the library, or by Runtime::start_trace() and trace().

Examples:
  polychron bench model.onnx --seconds 1 --trace run.trace
  polychron trace summary run.trace
  polychron trace view run.trace -o run.html
  polychron trace chrome run.trace -o run.json      (for ui.perfetto.dev)
  polychron trace check run.trace)";

constexpr std::size_t max_recording = std::size_t{1} << 31;

std::string read_bytes(const std::string& path) {
  if (path == standard_stream) {
    const auto bytes = read_standard_input(max_recording);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || !std::filesystem::is_regular_file(path))
    throw UserError("recording '" + path + "': no such file");
  if (size > max_recording) throw UserError("recording '" + path + "': expected at most 2 GiB");
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size)))
    throw UserError("recording '" + path + "': cannot be read");
  return bytes;
}

trace::Story read_story(const std::string& path) {
  const auto bytes = read_bytes(path);
  try {
    return trace::tell(std::as_bytes(std::span<const char>(bytes)));
  } catch (const polychron::Error& error) {
    throw UserError("recording '" + path + "': " + error.message());
  }
}

std::string title_of(const std::string& path) {
  return path == standard_stream ? "recording" : std::filesystem::path(path).filename().string();
}

void write(const Options& options, const std::string& text) {
  if (options.output.empty() || options.output == standard_stream) {
    std::cout << text;
    return;
  }
  OutputFiles files;
  files.add(options.output, {std::as_bytes(std::span(text))});
  files.commit();
}

void summarize(const Options& options) {
  const auto text = trace::summary(read_story(options.recording));
  // Labels are the callers', and must not reach a terminal as they are; lines must.
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    std::cout << printable(text.substr(begin, end - begin)) << '\n';
    begin = end + 1;
  }
}

void check(const Options& options) {
  const auto story = read_story(options.recording);
  const auto verdict = trace::check(story);
  for (const auto& sentence : verdict.broken) std::cout << printable(sentence) << '\n';
  std::cout << verdict.checked << " facts checked, " << verdict.broken.size() << " broken\n";
  if (!verdict.broken.empty()) throw AlreadyTold();
}

CLI::App* add(CLI::App& to, const char* name, const char* help,
              const std::shared_ptr<Options>& options, void (*run)(const Options&)) {
  auto* command = to.add_subcommand(name, help);
  command->add_option("RECORDING", options->recording, "A recording; - is standard input")
      ->required()
      ->check(not_empty("a file"));
  command->callback([options, run] { run(*options); });
  return command;
}

void add_output(CLI::App& command, const std::shared_ptr<Options>& options) {
  command.add_option("-o,--output", options->output, "Where it goes; standard output if not given")
      ->type_name("FILE")
      ->check(not_empty("a file"));
}

}  // namespace

void add_trace(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("trace", "Look at a recording of a runtime's actors");
  command->footer(footer);
  command->require_subcommand(1);
  add(*command, "summary", "What took the time, what waited for what, what failed, in words",
      options, summarize);
  add_output(*add(*command, "view", "One page for a browser, which needs nothing else", options,
                  [](const Options& o) {
                    write(o, trace::page(read_story(o.recording), title_of(o.recording)));
                  }),
             options);
  add_output(*add(*command, "chrome", "JSON of Chrome's trace events, for Perfetto", options,
                  [](const Options& o) {
                    write(o, trace::chrome_json(read_story(o.recording), title_of(o.recording)));
                  }),
             options);
  add(*command, "check", "Whether what must hold of every run holds of this one", options, check);
}

}  // namespace tool
