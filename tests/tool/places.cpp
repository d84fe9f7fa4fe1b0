// Places of output: devices and pipes, links, slashes, and files that are needed.
#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "apps/tool/output_files.hpp"
#include "apps/tool/program.hpp"
#include "polychron/error.hpp"
#include "polychron/trace.hpp"
#include "tests/tool/small_files.hpp"

namespace {

namespace fs = std::filesystem;
using test_tool::check_mistake;
using test_tool::read_text;
using test_tool::run_ocr;
using test_tool::run_tool;
using Strings = std::vector<std::string>;

const std::string written = "content";

void write(const std::string& path) {
  tool::OutputFiles files;
  files.add(path, {std::as_bytes(std::span(written))});
  files.commit();
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(places, test_tool::SmallFiles)

// A file is renamed to its place. With enough rights that would be the end of /dev/null.
BOOST_AUTO_TEST_CASE(devices_and_pipes_are_not_replaced) {
  const auto pipe = directory / "pipe", link = directory / "link";
  BOOST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink(pipe, link);
  for (const auto& path : {pipe, link}) {
    BOOST_CHECK_THROW(tool::require_output_file(path), tool::UserError);
    BOOST_CHECK_THROW(write(path), tool::UserError);
    BOOST_CHECK_THROW(polychron::save_trace({}, path), polychron::Error);
    check_mistake(run_tool(run({"--trace", path})), path + "': it is not a regular file");
  }
  BOOST_TEST(fs::is_fifo(pipe));
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST((directory.files() == Strings{"link", "pipe", "small.onnx", "x.npy"}));
}

BOOST_AUTO_TEST_CASE(links_stay_and_what_they_lead_to_is_written) {
  const auto link = directory / "link", file = directory / "file";
  test_tool::write_text(file, "old");
  fs::create_symlink("file", link);
  write(link);
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(read_text(file) == written);
}

// The printed text would go to a file that is replaced.
BOOST_AUTO_TEST_CASE(standard_output_is_no_file_to_write) {
  const auto log = directory / "log";
  for (const auto& path : {log, std::string("/dev/stdout")}) {
    const auto outcome = run_tool(run({"--trace", path}), {}, "/dev/null", log);
    check_mistake(outcome, path + "': standard output or standard error goes there");
  }
  BOOST_TEST(read_text(log) == "");
}

BOOST_AUTO_TEST_CASE(slashes_that_say_nothing_are_not_told) {
  const auto outcome = run_tool(run_with(model, array, outputs + "///"));
  BOOST_TEST(outcome.exit_code == 0);
  BOOST_TEST(outcome.output == "y/sum  float32 [2, 4]  " + outputs + "/y_sum.npy\n");
  check_mistake(run_tool(run_with(model, array, directory / "a//b//")),
                "output directory '" + directory / "a/b" + "': '" + directory / "a" + "' is no");
}

BOOST_AUTO_TEST_CASE(nothing_that_is_named_is_overwritten) {
  const auto before = read_text(array);
  for (const auto& same : {array, directory / "./x.npy", directory / "nothing/../x.npy"})
    check_mistake(run_tool(run({"--trace", same})), "--trace and --input x are the same file: '");
  check_mistake(run_tool(run({"--trace", model})), "--trace and MODEL are the same file: '");
  check_mistake(run_tool({"bench", model, "--trace", model}), "--trace and MODEL are the same");
  check_mistake(run_ocr({array, "--boxes", array}), "--boxes and PICTURE are the same");
  check_mistake(run_ocr({array, "--boxes", "new", "--trace", "./new"}),
                "--trace and --boxes are the same file: './new'");
  for (const char* command : {"view", "chrome", "replay"})
    check_mistake(run_tool({"trace", command, array, "-o", array}),
                  "--output and RECORDING are the same file");
  check_mistake(run_tool({"trace", "view", model, "--with", array, "-o", array}),
                "--output and --with are the same file");
  check_mistake(run_tool(run({"--trace", outputs})), "--trace and --output-dir are the same");
  fs::create_directory(outputs);
  check_mistake(run_tool(run({"--trace", outputs + "/y_sum.npy"})),
                "--trace and the output 'y/sum' are the same file");
  BOOST_TEST(read_text(array) == before);
  BOOST_TEST(fs::is_empty(outputs));
}

// The recording was asked for: without it the command has not done what it should.
BOOST_AUTO_TEST_CASE(a_recording_that_cannot_be_written_is_a_failure) {
  if (!fs::is_directory("/proc/self")) return;  // where nobody can make a file
  const auto outcome = run_tool(run({"--trace", "/proc/self/recording"}));
  BOOST_TEST(outcome.exit_code == 2);
  BOOST_TEST((outcome.errors.find("cannot write '/proc/self/recording'") != std::string::npos));
  BOOST_TEST(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == 1);
}

BOOST_AUTO_TEST_CASE(a_limit_of_size_is_a_file_that_cannot_be_written) {
#ifdef __clang__
  BOOST_TEST_MESSAGE("skipped: LLVM's OpenMP ends a program that may not write files of 1 KiB");
  return;
#endif
  rlimit before{};
  BOOST_REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{100, before.rlim_max};  // bytes; the children's messages are shorter
  BOOST_REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto outcome = run_tool(run());
  BOOST_REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  BOOST_TEST(outcome.exit_code == 2);
  BOOST_TEST((outcome.errors.find("cannot write '") != std::string::npos), outcome.errors);
  BOOST_TEST((directory.files() == Strings{"small.onnx", "x.npy"}));
}

BOOST_AUTO_TEST_CASE(a_directory_that_was_made_for_nothing_is_removed) {
  // The name is taken by a directory only after the outputs' place was looked at.
  fs::create_directories(outputs + "/y_sum.npy");
  check_mistake(run_tool(run()), "y_sum.npy': it is a directory");
  BOOST_TEST(fs::is_directory(outputs));
  BOOST_TEST((directory.files() == Strings{"outputs", "small.onnx", "x.npy"}));
}

BOOST_AUTO_TEST_SUITE_END()
