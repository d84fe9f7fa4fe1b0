// The suite names each promise that a backend breaks.
#include "tests/backends/planted_backend.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <memory>

namespace polychron::testing {
namespace {

constexpr const char* promises[] = {"adopt on success",
                                    "adopt, surrender",
                                    "any address",
                                    "arena_bytes()",
                                    "bytes exact",
                                    "compiles beside",
                                    "computes",
                                    "constants shared",
                                    "graph of many steps",
                                    "lanes share plans",
                                    "lanes side by side",
                                    "lost device",
                                    "map",
                                    "no allocation",
                                    "nothing thrown",
                                    "out of memory",
                                    "same buffer",
                                    "sizes checked",
                                    "submits",
                                    "zeros"};

/// The last lines of the suite's output, from the table on.
std::string table_of(const std::string& defect) {
  const auto program = std::string(boost::unit_test::framework::master_test_suite().argv[0]);
  const auto command = "POLYCHRON_PLANTED='" + defect + "' '" + program +
                       "' --run_test=storages,plans,failures 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) output += static_cast<char>(c);
  const auto at = output.find("\npromise ");
  BOOST_TEST_REQUIRE(at != std::string::npos, output);
  return output.substr(at);
}

/// The table's word for a promise.
std::string answer(const std::string& table, const std::string& promise) {
  const auto line = table.find("\n" + promise + "  ");
  BOOST_TEST_REQUIRE(line != std::string::npos, promise << table);
  const auto begin = table.find_first_not_of(' ', line + 1 + promise.size());
  return table.substr(begin, table.find_first_of(" \n", begin) - begin);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(planted)

BOOST_AUTO_TEST_CASE(every_broken_promise_is_named) {
  const auto sound = table_of("none");
  for (const std::string promise : promises) {
    // The address sanitizer has no end of memory: the suite says so.
    if (answer(sound, promise) == "-") continue;
    BOOST_TEST(answer(sound, promise) == "kept", promise);
    const auto table = table_of(promise);
    BOOST_TEST(answer(table, promise) == "BROKEN", "planted: " << promise << table);
  }
}

BOOST_AUTO_TEST_CASE(no_promise_is_forgotten) {
  const auto table = table_of("none");
  std::size_t answers = 0;
  for (const std::string word : {" kept ", " - "})
    for (auto at = table.find(word); at != std::string::npos; at = table.find(word, at + 1))
      ++answers;
  BOOST_TEST(answers == std::size(promises), table);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
