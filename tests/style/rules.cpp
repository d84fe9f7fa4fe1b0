// Style is a test: allowed includes, sizes, and calls that have a better replacement.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/paths.hpp"
#include "tests/style/folders.hpp"
#include "tests/style/text_of.hpp"

namespace fs = std::filesystem;

using style::allowed;
using style::root;

namespace {

/// The only exceptions: an embedder gets CAF types by including these.
const std::set<std::string> may_include_caf{"include/polychron/caf.hpp"};

/// One file each for the needs of the operating system, for each format of pictures, Boost.Asio,
/// what a processor has that Highway does not ask for, and hints to a sanitizer.
const std::map<std::string, std::set<std::string>> system_headers{
    {"base/before_exit.cpp", {"pthread.h", "sys", "unistd.h"}},
    {"base/buffer.cpp", {"sys", "sanitizer"}},
    {"base/fork.cpp", {"pthread.h"}},
    {"base/kept_once.cpp", {"pthread.h"}},
    {"base/new_file.cpp", {"fcntl.h", "unistd.h"}},
    {"base/usable_cores.cpp", {"sched.h"}},
    {"examples/asio/asio.cpp", {"boost"}},
    {"apps/ocr/main.cpp", {"CLI", "apps/tool"}},
    {"apps/ocr/output.cpp", {"apps/tool"}},
    {"apps/ocr/picture_jpeg.cpp", {"jpeglib.h"}},
    {"apps/ocr/picture_png.cpp", {"png.h"}},
    {"apps/ocr/picture_tiff.cpp", {"tiffio.h"}},
    {"apps/ocr/picture_webp.cpp", {"webp"}},
    {"kernels/processor.cpp", {"cpuid.h", "sys"}},
    {"onnx/mapped_file.cpp", {"fcntl.h", "pthread.h", "signal.h", "sys", "unistd.h"}},
    {"observe/recording/recorder.cpp", {"errno.h", "pthread.h"}},
    {"apps/tool/platform.cpp", {"fcntl.h", "signal.h", "unistd.h", "sys"}}};

/// Places where threads may meet: everything with a lock or an atomic, and every thread that is
/// started. Each entry is the beginning of a path.
const std::vector<std::string> places_of_locks{
    "actors/engine/",
    "messages/shared/",
    "observe/recording/",            // written by every thread, each in its own block
    "include/polychron/future.hpp",  // what callers wait on
    "kernels/team.",                 // threads that share lanes' work
    "kernels/gpu/storage.",          // a tensor that several lanes read
    "base/before_exit.cpp",          // work that the end of the process waits for
    "base/cancellation",             // the state behind Cancellation
    "base/kept_once.cpp",            // a table of constants that all contexts share
    "base/large_pages.hpp",          // whether large pages come fast, of all buffers
    "base/fork.cpp",                 // a number that a forked child raises
    "onnx/constant.hpp",             // a constant in a file, which its first user reads
    "onnx/external_data",            // the bytes of constants that share them
    "onnx/file_range",               // what several tensors share of a file
    "onnx/mapped_file.cpp",          // the thread that looks after files, and their table
    "onnx/sessions_",                // a table of sessions that callers share
    "base/new_file.cpp",             // a number in the names of temporary files
    "runtime/dynamic_graph",         // what was compiled of a graph, for threads that dispatch it
    "onnx/spare_outputs",            // memory that a session's runs take and give back
    "observe/replay/drivers",        // threads that take turns, one awake at a time
    "observe/stress/fault_backend",  // tests and backends meet there
    "apps/text/scheduler",           // generations come from any thread
    "apps/tool/",
    "tests/bench/",
};

/// Tables of rows and of text, which have no natural end.
const std::set<std::string> tables{
    "include/polychron/graph_builder.hpp"};  // a method for each row of the operator table

struct SourceFile {
  std::string path;  ///< relative to the root
  std::string folder;
  std::vector<std::string> lines;
};

bool is_source(const fs::path& path) {
  return path.extension() == ".cpp" || path.extension() == ".hpp";
}

std::vector<SourceFile> sources() {
  std::vector<SourceFile> files;
  for (const auto& [folder, targets] : allowed) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!is_source(entry.path())) continue;
      SourceFile file{fs::relative(entry.path(), root).string(), folder, {}};
      if (style::folder_of(file.path) != folder) continue;  // within a folder with a row of its own
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  BOOST_REQUIRE(files.size() > 20);
  return files;
}

/// The folder or library that an include names: "ops", "include", "caf", or "" for the standard
/// library's.
std::string target_of(const std::string& header) {
  if (header.starts_with("polychron/")) return "include";
  if (auto folder = style::folder_of(header); !folder.empty()) return folder;
  const auto slash = header.find('/');
  for (const auto* library : {"boost/container", "boost/archive"})
    if (header.starts_with(library)) return library;
  if (slash != std::string::npos) return header.substr(0, slash);
  return header.find('.') == std::string::npos ? "" : header;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rules)

BOOST_AUTO_TEST_CASE(includes_point_in_the_allowed_directions) {
  const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  for (const auto& file : sources()) {
    for (const auto& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const auto target = target_of(match[1]);
      if (target.empty() || target == file.folder) continue;
      if (target == "caf" && may_include_caf.contains(file.path)) continue;
      if (const auto system = system_headers.find(file.path);
          system != system_headers.end() && system->second.contains(target))
        continue;
      // A plain name within the same folder ("picture.hpp" beside "ocr.cpp").
      if (fs::exists((root / file.path).parent_path() / match[1].str())) continue;
      BOOST_TEST(allowed.at(file.folder).contains(target),
                 file.path << " includes " << match[1] << ": " << file.folder
                           << " must not depend on " << target);
    }
  }
}

// The server and the npm package are built outside of this tree, on what is installed. The server's
// "ocr" reads pages by apps/ocr, which stands on the same.
BOOST_AUTO_TEST_CASE(products_stand_on_the_public_interface) {
  const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::size_t files = 0;
  for (const auto* product :
       {"apps/server", "bindings/node/native", "bindings/python/native", "bindings/shared"})
    for (const auto& entry : fs::recursive_directory_iterator(root / product)) {
      if (!is_source(entry.path())) continue;
      ++files;
      const auto path = fs::relative(entry.path(), root).string();
      std::ifstream in(entry.path());
      std::size_t lines = 0;
      for (std::string line; std::getline(in, line); ++lines) {
        std::smatch match;
        if (std::regex_search(line, match, include)) {
          const auto folder = style::folder_of(match[1].str());
          BOOST_TEST((folder.empty() || folder == "apps/ocr"), path << " includes " << match[1]);
        }
        BOOST_TEST(line.size() <= 100U, path << ':' << lines + 1 << " has " << line.size());
      }
      BOOST_TEST(lines <= 400U, path << " has " << lines << " lines");
    }
  BOOST_TEST(files > 50U);
}

// Houses within kernels/: implementations know each other only through what stands above them, and
// nothing of the compilers (cpu, gpu) that pick them.
BOOST_AUTO_TEST_CASE(kernels_do_not_know_their_compiler) {
  const std::regex include(R"(^\s*#\s*include\s*"kernels/(\w+)/)");
  for (const auto& file : sources()) {
    const auto house = fs::path(file.path).parent_path();
    if (file.folder != "kernels" || house == "kernels" || file.path.starts_with("kernels/cpu/") ||
        file.path.starts_with("kernels/gpu/"))
      continue;
    for (const auto& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      BOOST_TEST(match[1].str() == house.filename().string(), file.path << " includes " << line);
    }
  }
}

// Actors have no locks. Threads share state only in one folder, where each piece names its writers
// and readers.
BOOST_AUTO_TEST_CASE(locks_and_atomics_have_their_places) {
  const std::regex shared(
      R"(\bstd::(atomic\w*|(shared_|recursive_|timed_)*mutex|condition_variable\w*|jthread)"
      R"(|thread(?!::hardware_concurrency)|call_once|once_flag|async|promise|counting_semaphore)"
      R"(|binary_semaphore|latch|barrier|(lock_guard|unique_lock|scoped_lock|shared_lock))\b)"
      R"(|\bpthread_\w+\s*\(|\bvolatile\b)");
  for (const auto& file : sources()) {
    const bool may = std::ranges::any_of(
        places_of_locks, [&](const auto& place) { return file.path.starts_with(place); });
    if (may) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const auto code = file.lines[i].substr(0, file.lines[i].find("//"));
      BOOST_TEST(!std::regex_search(code, shared),
                 file.path << ":" << i + 1 << ": " << code << "; instead: messages/shared");
    }
  }
}

BOOST_AUTO_TEST_CASE(lines_have_at_most_100_columns) {
  for (const auto& file : sources())
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      // Columns, not bytes: continuation bytes of UTF-8 do not count.
      const auto columns = std::count_if(file.lines[i].begin(), file.lines[i].end(),
                                         [](char c) { return (c & 0xC0) != 0x80; });
      BOOST_TEST(columns <= 100, file.path << ":" << i + 1 << " has " << columns << " columns");
    }
}

BOOST_AUTO_TEST_CASE(files_have_at_most_400_lines) {
  for (const auto& file : sources())
    BOOST_TEST((file.lines.size() <= 400 || tables.contains(file.path)),
               file.path << " has " << file.lines.size() << " lines: has it one subject?");
}

BOOST_AUTO_TEST_CASE(every_file_says_what_it_is_for) {
  for (const auto& file : sources()) {
    const auto has_head = [&](const std::string& path) {
      std::ifstream in(root / path);
      std::string first;
      std::getline(in, first);
      return first.starts_with("//");
    };
    auto header = file.path;
    if (header.ends_with(".cpp")) header.replace(header.size() - 4, 4, ".hpp");
    BOOST_TEST((has_head(file.path) || (fs::exists(root / header) && has_head(header)) ||
                fs::exists(root / "include/polychron" / fs::path(header).filename())),
               file.path << " has no head comment, and no header that has one");
  }
}

BOOST_AUTO_TEST_CASE(banned_calls_are_not_used) {
  // Calls that must not be used in the library's folders, and their replacements.
  const std::vector<std::pair<std::regex, std::string>> banned{
      {std::regex(R"(\bstd::(cout|cerr|clog)\b)"), "return an Error: the library never prints"},
      {std::regex(R"(\b(printf|fprintf|puts)\s*\()"), "return an Error: the library never prints"},
      {std::regex(R"(\babort\s*\(|\bstd::exit\b)"), "return an Error: user mistakes never abort"},
      {std::regex(R"(\bsleep_(for|until)\b)"), "a message, or a condition"},
      {std::regex(R"(\bsystem_clock\b|\brandom_device\b)"),
       "time and randomness that are passed in"},
      {std::regex(R"(\bactor\s*\{\s*(this|self)\b)"), "caf::actor_addr: a strong self never ends"},
      {std::regex(R"(\bFIXME\b|\bXXX\b)"), "do it, or file it"},
  };
  const std::set<std::string> library{"base",    "ops",  "kernels",   "messages", "actors",
                                      "runtime", "onnx", "apps/text", "include"};
  for (const auto& file : sources()) {
    if (!library.contains(file.folder)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const auto code = file.lines[i].substr(0, file.lines[i].find("//"));
      for (const auto& [pattern, instead] : banned)
        BOOST_TEST(!std::regex_search(code, pattern),
                   file.path << ":" << i + 1 << ": " << code << "; instead: " << instead);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
