// Files that appear whole or not at all, in whatever way the program ends.
#include "apps/tool/output_files.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "apps/tool/program.hpp"
#include "tests/tool/command.hpp"

namespace {

using Strings = std::vector<std::string>;

const std::string content = "content";

std::vector<std::span<const std::byte>> parts() { return {std::as_bytes(std::span(content))}; }

/// The exit of a process that ran `f` with `action` for `signal_number`: 128 + signal, or the code
/// that f returned.
template <class F>
int ending_of(int signal_number, void (*action)(int), F f) {
  const pid_t child = fork();
  if (child == 0) {
    signal(signal_number, action);
    try {
      _exit(f());
    } catch (...) {
      _exit(99);
    }
  }
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(output_files)

BOOST_AUTO_TEST_CASE(a_signal_leaves_no_temporary_file) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const test_tool::TemporaryDirectory directory;
    const auto ending = ending_of(number, SIG_DFL, [&] {
      tool::OutputFiles early;
      early.add(directory / "early", parts());
      early.commit();
      tool::OutputFiles files;
      files.add(directory / "a", parts());
      files.add(directory / "b", parts());
      if (directory.files().size() != 3) return 1;
      raise(number);
      return 2;
    });
    BOOST_TEST(ending == 128 + number);
    BOOST_TEST((directory.files() == Strings{"early"}));  // it was finished
  }
}

BOOST_AUTO_TEST_CASE(a_signal_that_was_ignored_stays_so) {
  const test_tool::TemporaryDirectory directory;
  const auto ending = ending_of(SIGINT, SIG_IGN, [&] {  // as nohup and shells do
    tool::OutputFiles files;
    files.add(directory / "a", parts());
    raise(SIGINT);
    files.commit();
    return 7;
  });
  BOOST_TEST(ending == 7);
  BOOST_TEST((directory.files() == Strings{"a"}));
}

BOOST_AUTO_TEST_CASE(without_commit_nothing_is_left) {
  const test_tool::TemporaryDirectory directory;
  {
    tool::OutputFiles files;
    files.add(directory / "a", parts());
  }
  BOOST_TEST(directory.files().empty());
}

BOOST_AUTO_TEST_CASE(a_name_may_be_as_long_as_the_file_system_lets_it) {
  const test_tool::TemporaryDirectory directory;
  const auto longest = directory / std::string(255, 'n');
  tool::require_output_file(longest);
  tool::OutputFiles files;
  files.add(longest, parts());
  files.commit();
  BOOST_TEST(test_tool::read_text(longest) == content);
  BOOST_CHECK_THROW(tool::require_output_file(longest + "n"), tool::UserError);
  BOOST_CHECK_THROW(files.add(longest + "n", parts()), tool::UserError);
  BOOST_CHECK_THROW(tool::require_output_directory(longest + "n"), tool::UserError);
}

BOOST_AUTO_TEST_CASE(places_are_looked_at_and_nothing_is_made) {
  const test_tool::TemporaryDirectory directory;
  tool::require_output_directory(directory / "new");
  tool::require_output_directory(directory / "new/");
  tool::require_output_directory(directory / "");
  tool::require_output_file(directory / "new.png");
  BOOST_CHECK_THROW(tool::require_output_file(directory / ""), tool::UserError);
  BOOST_CHECK_THROW(tool::require_output_file(directory / "no/new.png"), tool::UserError);
  BOOST_CHECK_THROW(tool::require_output_directory(directory / "no/new/"), tool::UserError);
  BOOST_TEST(directory.files().empty());
}

BOOST_AUTO_TEST_SUITE_END()
