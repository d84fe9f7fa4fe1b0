// Runs the command as a user types it: a process of its own, its output and its exit code.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/paths.hpp"

namespace test_tool {

/// A directory that is gone with its contents at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    auto name = (std::filesystem::temp_directory_path() / "polychron.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  /// Names of the files in it, hidden ones too, sorted.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

struct Outcome {
  int exit_code = -1;  ///< 128 + signal if it was killed by one
  std::string output, errors;
};

inline void has(const Outcome& outcome, const std::string& part) {
  BOOST_TEST((outcome.output.find(part) != std::string::npos), part << " in: " << outcome.output);
}

/// Runs a program of this build with `arguments`. `environment` is added: "NAME=value". `input` is
/// the file that it finds as its standard input, `stdout_file` as its standard output; empty:
/// closed.
inline Outcome run_program(const std::string& program, const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment = {},
                           const std::string& input = "/dev/null",
                           const std::optional<std::string>& stdout_file = std::nullopt) {
  const TemporaryDirectory directory;
  const auto output = stdout_file.value_or(directory / "output"), errors = directory / "errors";
  std::vector<std::string> words{polychron::testing::binary_directory() + "/bin/" + program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  const auto pointers = [](std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (auto& string : strings) result.push_back(string.data());
    result.push_back(nullptr);
    return result;
  };

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int flags = O_WRONLY | O_CREAT;
  const auto provide = [&](int stream, const std::string& file, int how) {
    if (file.empty()) posix_spawn_file_actions_addclose(&actions, stream);
    if (!file.empty()) posix_spawn_file_actions_addopen(&actions, stream, file.c_str(), how, 0600);
  };
  provide(STDIN_FILENO, input, O_RDONLY);
  provide(STDOUT_FILENO, output, flags);
  provide(STDERR_FILENO, errors, flags);
  pid_t child = 0;
  const int failure = posix_spawn(&child, words[0].c_str(), &actions, nullptr,
                                  pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  BOOST_REQUIRE_EQUAL(failure, 0);
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, stdout_file ? "" : read_text(output), read_text(errors)};
}

inline Outcome run_tool(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment = {},
                        const std::string& input = "/dev/null",
                        const std::optional<std::string>& stdout_file = std::nullopt) {
  return run_program("polychron", arguments, environment, input, stdout_file);
}

/// The page reader, a program of its own.
inline Outcome run_ocr(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {},
                       const std::string& input = "/dev/null") {
  return run_program("polychron-ocr", arguments, environment, input);
}

/// The user's mistakes: exit code 2, nothing on standard output, one line on standard error that
/// has `expected` in it.
inline void check_mistake(const Outcome& outcome, const std::string& expected) {
  BOOST_TEST(outcome.exit_code == 2);
  BOOST_TEST(outcome.output == "");
  BOOST_TEST_CONTEXT(outcome.errors) {
    BOOST_TEST(std::count(outcome.errors.begin(), outcome.errors.end(), '\n') == 1);
    BOOST_TEST((outcome.errors.find(expected) != std::string::npos), "expected: " << expected);
  }
}

}  // namespace test_tool
